package act

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// Strays are the objects that carry the marks of this installation and that neither a watched revision nor an inventory
// lists, in order of their names: what a lost inventory left behind, or a copy that somebody made of an object. People
// have to judge them; nothing deletes them. It sends nothing, and so knows watched kinds, and of all others what Adopt found
// when it looked through them last.
func (e *Engine) Strays() []inventory.Stray {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if !e.seesInventoriesLocked() {
		return nil
	}
	if e.strays == nil || e.strays.changes != e.cluster.Changes {
		stored := e.storedLocked()
		found := inventory.Strays(e.seenObjectsLocked, e.us, e.isPlannedLocked, stored)
		listed, watched := inventory.ListedIn(stored), map[schema.GroupKind]bool{}
		for gvk := range e.watches {
			watched[gvk.GroupKind()] = true
		}
		for _, s := range e.swept {
			if !watched[s.Key.GVK().GroupKind()] && !e.isPlannedLocked(s.Key) && !listed[s.Key.Identity()] {
				found = append(found, s)
			}
		}
		slices.SortFunc(found, func(a, b inventory.Stray) int { return cmp.Compare(a.Key.String(), b.Key.String()) })
		e.strays = &strays{changes: e.cluster.Changes, found: found}
	}
	return e.strays.found
}

// sweptStrays remembers what nothing proves to be of a revision, whatever its marks say.
func (e *Engine) sweptStrays(found []inventory.Stray) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	e.swept, e.strays = found, nil
}

// strays are what was found for as long as nothing that is watched changes.
type strays struct {
	changes int // what Engine.cluster.changes was
	found   []inventory.Stray
}

// seenObjectsLocked yields all objects that watches of kinds show. The cluster's lock is held.
func (e *Engine) seenObjectsLocked(yield func(decide.Key, metav1.Object) bool) {
	for gvk, w := range e.watches {
		for name, o := range w.Objects {
			if !yield(decide.Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: name.Namespace, Name: name.Name}, o) {
				return
			}
		}
	}
}

// isPlannedLocked says that a watched revision has an object, or lives in the Namespace that it is.
func (e *Engine) isPlannedLocked(key decide.Key) bool {
	for _, p := range e.plans {
		if p.keys[key.Identity()] != nil || key.IsNamespace() && p.inhabits(key.Name) {
			return true
		}
	}
	return false
}
