package act

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// place is where a watch looks: at a kind, in one namespace; the empty one is that of kinds without namespaces, and of
// objects that lack one.
type place struct {
	kind      schema.GroupVersionKind
	namespace string
}

// placeOf is where an object is found whose manifest names a namespace, rightly or not.
func placeOf(gvk schema.GroupVersionKind, served see.Resource, namespace string) place {
	if !served.Namespaced {
		namespace = ""
	}
	return place{gvk, namespace}
}

// watchLocked is the watch that shows an object, nil if there is none. The cluster's lock is held.
func (e *Engine) watchLocked(key decide.Key) *see.Watch {
	if w := e.watches[place{key.GVK(), key.Namespace}]; w != nil {
		return w
	}
	return e.watches[place{key.GVK(), ""}]
}

// watchedAsLocked is how a kind is served that is watched anywhere. The cluster's lock is held.
func (e *Engine) watchedAsLocked(gvk schema.GroupVersionKind) (see.Resource, bool) {
	for at, w := range e.watches {
		if at.kind == gvk && !w.Gone {
			return w.Resource, true
		}
	}
	return see.Resource{}, false
}

// homes are the namespaces in which revisions have objects, whatever else they bring.
func (e *Engine) homes() []string {
	if len(e.cfg.Namespaces) == 0 {
		return []string{e.cfg.Namespace}
	}
	return e.cfg.Namespaces
}

// homesOf are those of a built-in kind.
func (e *Engine) homesOf(gvk schema.GroupVersionKind) []string {
	if !see.Builtin[gvk].Namespaced {
		return []string{""}
	}
	return e.homes()
}

// unplannedBytes bounds what the watch of one namespace keeps of objects before the first revision is known.
const unplannedBytes = 2 << 20

// wants is asked by the watch of a kind which objects it keeps as a whole. What nobody lists may be anybody's, and as large
// and as many as he likes. The cluster's lock is held.
func (e *Engine) wants(gvk schema.GroupVersionKind) func(*see.Object) bool {
	room := unplannedBytes
	return func(o *see.Object) bool {
		switch {
		case !e.hadPlans && o.Namespace == "":
			return true
		case !e.hadPlans:
			room -= o.Size()
			return room >= 0
		}
		return e.isKnownLocked(decide.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.Namespace, Name: o.Name})
	}
}

// isKnownLocked says that a watched revision has an object, or that an inventory lists it.
func (e *Engine) isKnownLocked(identity decide.Key) bool {
	for _, p := range e.plans {
		if p.keys[identity] != nil {
			return true
		}
	}
	return e.listedLocked()[identity]
}

// allListedLocked are the objects of the watched revisions and of all inventories, by identity.
func (e *Engine) allListedLocked() map[decide.Key]bool {
	listed := maps.Clone(e.listedLocked())
	for _, p := range e.plans {
		for key := range p.keys {
			listed[key] = true
		}
	}
	return listed
}

// listedObjects are the objects of all inventories for as long as none of these changes, nor what is read of them first.
type listedObjects struct {
	as      listChanges
	objects map[decide.Key]bool
}

// listChanges counts the changes of what is listed: by plans, and by inventories.
type listChanges struct{ plans, inventories int }

// listedLocked are the objects of all inventories, by identity.
func (e *Engine) listedLocked() map[decide.Key]bool {
	if e.listed.objects == nil || e.listed.as != e.listNowLocked() {
		e.listed = listedObjects{as: e.listNowLocked(), objects: inventory.ListedIn(e.storedLocked())}
	}
	return e.listed.objects
}

// listNowLocked counts the changes of what is listed so far.
func (e *Engine) listNowLocked() listChanges { return listChanges{e.planChanges, e.inventoryChanges} }

// lacksContentLocked says, once after each change of what is listed, that a watch has dropped the content of an object that
// is listed by now: it has to begin anew. The content of what nobody lists any more is dropped.
func (e *Engine) lacksContentLocked(at place, w *see.Watch) (lacks bool) {
	if !e.hadPlans || e.listChecked == e.listNowLocked() {
		return false
	}
	return w.Strip(func(o *see.Object) bool {
		return e.isKnownLocked(decide.Key{Group: at.kind.Group, Kind: at.kind.Kind, Namespace: o.Namespace, Name: o.Name})
	})
}
