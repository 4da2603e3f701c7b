package act

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// sweep looks for the objects of revisions among all kinds.
type sweep struct {
	e          *Engine
	said       see.Discovered
	uses       map[schema.GroupKind]bool // kinds that revisions are made of
	needed     map[schema.GroupKind]bool // kinds of the revisions and inventories at hand
	namespaces []string                  // where objects of revisions may be, in order
	unsearched bool                      // inventories list more Namespaces than these

	gaps []string // API groups that did not answer before

	mu      sync.Mutex
	silent  map[string]bool  // API groups that do not answer, or of which nobody may list a kind
	barred  map[string]bool  // those of the second sort
	lists   map[servers]bool // gave a list of one of their kinds
	refuses map[servers]bool // answered with something else for one
}

// servers are who serves versions of an API group: kube-apiserver, or another one.
type servers struct {
	group   string
	another bool
}

func (s *sweep) serverOf(gvk schema.GroupVersionKind) servers {
	return servers{gvk.Group, s.said.Aggregated[gvk.GroupVersion()]}
}

// newSweep begins a look. Gaps are API groups that did not answer before: one does only if it gives a list.
func (e *Engine) newSweep(said see.Discovered, gaps []string) *sweep {
	s := &sweep{e: e, said: said, uses: map[schema.GroupKind]bool{}, needed: map[schema.GroupKind]bool{}, gaps: gaps, silent: maps.Clone(said.Unavailable), barred: map[string]bool{}, lists: map[servers]bool{}, refuses: map[servers]bool{}}
	for gvk := range see.Builtin {
		s.uses[gvk.GroupKind()] = true
	}
	e.cluster.Lock()
	defer e.cluster.Unlock()
	homes := set(e.homes())
	for gvk, namespaces := range e.neededLocked() {
		s.uses[gvk.GroupKind()], s.needed[gvk.GroupKind()] = true, true
		maps.Copy(homes, namespaces)
	}
	for _, p := range e.plans {
		for key := range p.keys {
			if key.IsNamespace() {
				homes[key.Name] = true
			}
		}
	}
	s.unsearched = e.addNamespacesLocked(homes)
	delete(homes, "")
	s.namespaces = slices.Sorted(maps.Keys(homes))
	return s
}

// listedNamespacesAtMost bounds the Namespaces of inventories that are looked through and that no watched revision has.
const listedNamespacesAtMost = 64

// addNamespacesLocked adds the Namespaces that inventories list: those of the watched revisions' first, and the first by name.
// It says whether there are more. The cluster's lock is held.
func (e *Engine) addNamespacesLocked(homes map[string]bool) (more bool) {
	var first, rest []string
	known := maps.Clone(homes)
	atHand := e.numbersAtHandLocked()
	for _, mine := range []bool{true, false} {
		for _, s := range e.storedLocked() {
			if s.Inventory == nil || slices.Contains(atHand, s.Number) != mine {
				continue
			}
			for _, entry := range s.Inventory.Entries {
				switch key := entry.Key(); {
				case !key.IsNamespace() || known[key.Name]:
					continue
				case mine:
					first = append(first, key.Name)
				default:
					rest = append(rest, key.Name)
				}
				known[entry.Name] = true
			}
		}
	}
	slices.Sort(first)
	slices.Sort(rest)
	listed := slices.Concat(first, rest)
	looked := min(len(listed), listedNamespacesAtMost)
	for _, name := range listed[:looked] {
		homes[name] = true
	}
	return looked < len(listed)
}

// find finds all objects that carry the marks of a revision, asking once for every kind; only for those of some API groups
// if any are named, and none of a group that did not answer already.
func (s *sweep) find(ctx context.Context, groups []string) ([]inventory.Found, error) {
	var found []inventory.Found
	var errs []error
	kinds := s.said.Preferred()
	maps.DeleteFunc(kinds, func(gvk schema.GroupVersionKind, _ see.Resource) bool {
		if may := s.e.cfg.MayHave; may != nil && !may(gvk.GroupKind()) && !s.needed[gvk.GroupKind()] {
			return true
		}
		return len(groups) > 0 && !slices.Contains(groups, gvk.Group) || s.silent[gvk.Group] && s.said.Aggregated[gvk.GroupVersion()]
	})
	clear(s.lists)
	clear(s.refuses)
	eachKind(ctx, s.e.cfg.Concurrency, s.said, kinds, func(within context.Context, gvk schema.GroupVersionKind, served see.Resource) bool {
		some, err := s.findOf(within, gvk, served)
		s.mu.Lock()
		defer s.mu.Unlock()
		found = append(found, some...)
		if err = s.unreadable(ctx, gvk, err); err != nil {
			errs = append(errs, err)
		}
		return err == nil && !s.silent[gvk.Group]
	})
	for server := range s.refuses { // it may be starting, and say of all its kinds that there are none, or that nobody may read them
		if slices.Contains(s.gaps, server.group) && !s.lists[server] {
			s.silent[server.group] = true
		}
	}
	maps.Copy(s.silent, s.barred) // by now, since the other kinds of such a group were asked for all the same
	return found, errors.Join(errs...)
}

// findOf asks for the objects with our label. If kube-apiserver cannot fill its cache of the kind, and so refuses the
// selector, it looks through all objects.
func (s *sweep) findOf(ctx context.Context, gvk schema.GroupVersionKind, served see.Resource) ([]inventory.Found, error) {
	var found []inventory.Found
	note := func(obj *metav1.PartialObjectMetadata) {
		if f, is := inventory.FoundIn(obj, gvk, s.e.us); is {
			found = append(found, f)
		}
	}
	namespaces := s.namespaces
	if !served.Namespaced {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		before := len(found)
		err := s.e.cluster.Reader.ListAll(ctx, served.GVR, namespace, s.e.us.Selector(), note)
		if apierrors.IsTooManyRequests(err) {
			found = found[:before]
			err = s.e.cluster.Reader.ListAll(ctx, served.GVR, namespace, "", note)
		}
		switch {
		case apierrors.IsForbidden(err) && served.Namespaced && !slices.Contains(s.e.homes(), namespace): // who may not look there has nothing there
			s.e.cfg.Log.Info("A namespace is not looked through", "namespace", namespace, "kind", gvk.String(), "error", err.Error())
		case err != nil:
			return found, err
		}
	}
	return found, nil
}

// fillsSome says that one of the API groups answers that did not answer before, or that there are no more Namespaces now than
// are looked through.
func (s *sweep) fillsSome(gaps inventory.Gaps) bool {
	return gaps.Unsearched && !s.unsearched || slices.ContainsFunc(gaps.Silent, func(group string) bool { return !s.silent[group] })
}

// unreadable says what to make of an error: nothing but to tell it, if it is of a kind that is not kube-apiserver's own
// and that cannot be listed, or whose objects nobody can convert, so that they could not be deleted either. The group of
// another server that does not answer is asked again later, and one of which the operator may not list a kind. The lock is
// held.
func (s *sweep) unreadable(ctx context.Context, gvk schema.GroupVersionKind, err error) error {
	var noList *see.NoListError
	_, builtin := see.Builtin[gvk]
	isNoList := errors.As(err, &noList)
	switch {
	case err == nil:
		s.lists[s.serverOf(gvk)] = true
		return nil
	case s.said.Aggregated[gvk.GroupVersion()] && !isNoList && s.e.isSilence(ctx, err):
		s.silent[gvk.Group] = true
	case builtin, !isNoList && !s.e.cannotRead(err):
		return err
	}
	s.refuses[s.serverOf(gvk)] = true
	if apierrors.IsForbidden(err) { // there may be some, which the operator was given rights on before
		s.barred[gvk.Group] = true
	}
	s.e.cfg.Log.Info("Objects that cannot be listed are not adopted", "kind", gvk.String(), "error", err.Error())
	return nil
}

// rank prefers, of several kinds that one object is served as, that which revisions use, and a kind of kube-apiserver to
// one that another server makes of it.
func (s *sweep) rank(key decide.Key) int {
	switch {
	case s.said.Aggregated[key.GVK().GroupVersion()]:
		return 2
	case !s.uses[key.GVK().GroupKind()]:
		return 1
	}
	return 0
}

// evidence is what proves that the objects which were found are ours.
func (s *sweep) evidence() inventory.Evidence {
	s.e.cluster.Lock()
	defer s.e.cluster.Unlock()
	listed := s.e.allListedLocked()
	return inventory.Evidence{
		Us: s.e.us, Rank: s.rank,
		Believed: func(key decide.Key) bool {
			return !s.said.Aggregated[key.GVK().GroupVersion()] || s.uses[key.GVK().GroupKind()]
		},
		Lists: func(key decide.Key) bool { return listed[key.Identity()] },
	}
}
