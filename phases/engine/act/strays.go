package act

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// Strays are the objects that carry the marks of this installation and that neither a watched revision nor an inventory
// lists, in order of their names: what a lost inventory left behind, or a copy that somebody made of an object. People
// have to judge them; nothing deletes them. It sends nothing, and so knows only watched kinds.
func (e *Engine) Strays() []inventory.Stray {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if !e.seesInventoriesLocked() {
		return nil
	}
	if e.strays == nil || e.strays.changes != e.cluster.Changes {
		e.strays = &strays{changes: e.cluster.Changes, found: inventory.Strays(e.seenObjectsLocked, e.us, e.isPlannedLocked, e.storedLocked())}
	}
	return e.strays.found
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
