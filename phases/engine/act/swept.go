package act

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

// swept is what the last look through all kinds found with our marks, and neither planned nor listed. It is never changed
// once it was made. Whoever restarts has none, until inventories are rebuilt again.
type swept struct {
	objects []sweptObject // at most straysAtMost: first of kinds that nobody watches in our namespaces, then in others'
	more    int           // of such kinds
}

type sweptObject struct {
	inventory.Stray
	served see.Resource
}

// sweptStrays remembers what was found in a look through all kinds, and does not belong to what is known. Of a kind that
// another server than kube-apiserver makes up, names and marks may be anything: those do not count.
func (e *Engine) sweptStrays(said see.Discovered, found []inventory.Stray) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	last := &swept{}
	listed, watched := inventory.ListedIn(e.storedLocked()), e.watchedLocked()
	for _, stray := range found {
		if !said.Aggregated[stray.Key.GVK().GroupVersion()] && !e.isPlannedLocked(stray.Key) && !listed[stray.Key.Identity()] {
			served, _ := said.Of(stray.Key.GVK())
			last.objects = append(last.objects, sweptObject{stray, served})
		}
	}
	rank := func(o sweptObject) int {
		switch {
		case watched(o.Key):
			return 2
		case !e.us.Guards(o.Key.Namespace):
			return 1
		}
		return 0
	}
	slices.SortFunc(last.objects, func(a, b sweptObject) int { return byWorth(a.Stray, b.Stray) })
	byRank := [3][]sweptObject{}
	for _, o := range last.objects {
		byRank[rank(o)] = append(byRank[rank(o)], o)
	}
	last.objects = nil
	for rank, some := range byRank {
		kept := inTurn(some, straysAtMost-len(last.objects), func(o sweptObject) schema.GroupKind { return o.Key.GVK().GroupKind() })
		last.objects = append(last.objects, kept...)
		if rank < 2 {
			last.more += len(some) - len(kept)
		}
	}
	e.swept, e.strays = last, nil
	if len(last.objects) == 0 {
		e.swept = nil
	}
}

// watchedLocked says of a place, in whatever version of the kind, that it is watched. The cluster's lock is held.
func (e *Engine) watchedLocked() func(decide.Key) bool {
	type spot struct {
		schema.GroupKind
		namespace string
	}
	watched := map[spot]bool{}
	for at := range e.watches {
		watched[spot{at.kind.GroupKind(), at.namespace}] = true
	}
	return func(key decide.Key) bool {
		kind := key.GVK().GroupKind()
		return watched[spot{kind, key.Namespace}] || watched[spot{kind, ""}]
	}
}

// readSweptAgain reads again what the last look through all kinds has found, since no watch shows it, and forgets what is
// gone or has lost our marks; and with the last of them that there were more. What cannot be read stays.
func (e *Engine) readSweptAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(throttle.Apart(ctx), groupTimeout)
	defer cancel()
	e.cluster.Lock()
	before := e.swept
	e.cluster.Unlock()
	if before == nil {
		return
	}
	var now *swept
	for _, o := range before.objects {
		obj, err := e.cluster.Reader.ReadMetadata(ctx, o.served, o.Key)
		if err == nil && !e.isMarked(obj, o.Key.GVK()) {
			continue
		}
		if now == nil {
			now = &swept{more: before.more}
		}
		now.objects = append(now.objects, o)
	}
	e.cluster.Lock()
	changed := e.swept == before && (now == nil || len(now.objects) < len(before.objects))
	if changed {
		e.swept, e.strays = now, nil
	}
	e.cluster.Unlock()
	if changed {
		e.cfg.Notify()
	}
}

// isMarked says that an object was found, and with our marks.
func (e *Engine) isMarked(obj *see.Object, gvk schema.GroupVersionKind) bool {
	if obj == nil {
		return false
	}
	_, is := inventory.FoundIn(&metav1.PartialObjectMetadata{ObjectMeta: obj.ObjectMeta}, gvk, e.us)
	return is
}
