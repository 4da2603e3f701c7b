package act

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// straysAtMost bounds how many strays are told by name.
const straysAtMost = 100

// Strays are the objects that carry the marks of this installation and that neither a watched revision nor an inventory
// lists, those of the cluster first, in order of their names, and how many more there are: what a lost inventory left behind, or a copy that somebody
// made of an object. People have to judge them; nothing deletes them. It sends nothing, and so knows watched kinds, and of
// all others what Adopt found when it looked through them last, as far as it is still there.
func (e *Engine) Strays() (found []inventory.Stray, more int) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if !e.seesInventoriesLocked() {
		return nil, 0
	}
	if e.strays == nil || e.strays.changes != e.cluster.Changes {
		stored := e.storedLocked()
		found := inventory.Strays(e.seenObjectsLocked, e.us, e.isPlannedLocked, stored)
		if e.swept != nil {
			more = e.swept.more
			listed, watched := inventory.ListedIn(stored), e.watchedLocked()
			for _, o := range e.swept.objects {
				if !watched(o.Key) && !e.isPlannedLocked(o.Key) && !listed[o.Key.Identity()] {
					found = append(found, o.Stray)
				}
			}
		}
		slices.SortFunc(found, byWorth)
		told := min(len(found), straysAtMost)
		e.strays = &strays{changes: e.cluster.Changes, found: slices.Clone(found[:told]), more: more + len(found) - told}
	}
	return e.strays.found, e.strays.more
}

// byWorth puts what no tenant can have made before what one can crowd it out with.
func byWorth(a, b inventory.Stray) int {
	inNamespace := func(s inventory.Stray) int { return min(len(s.Key.Namespace), 1) }
	return cmp.Or(cmp.Compare(inNamespace(a), inNamespace(b)), cmp.Compare(a.Key.String(), b.Key.String()))
}

// strays are what was found for as long as nothing that is watched changes.
type strays struct {
	changes int // what Engine.cluster.changes was
	found   []inventory.Stray
	more    int
}

// seenObjectsLocked yields all objects that watches of kinds show. The cluster's lock is held.
func (e *Engine) seenObjectsLocked(yield func(decide.Key, metav1.Object) bool) {
	for at, w := range e.watches {
		for name, o := range w.Objects {
			if !yield(decide.Key{Group: at.kind.Group, Version: at.kind.Version, Kind: at.kind.Kind, Namespace: name.Namespace, Name: name.Name}, o) {
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
