package act

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// straysAtMost bounds how many strays are told by name.
const straysAtMost = 100

// Strays are the objects of the cluster and of the installation's own namespaces that carry its marks and that neither a
// watched revision nor an inventory lists, those of the cluster first, of each kind in turn, in order of their names: what a lost inventory left
// behind, or a copy that somebody made of an object. No kind crowds out another one. more counts the rest, and all that are in
// namespaces of others, who chose their names. People have to judge them; nothing deletes them. It sends nothing, and so
// knows watched kinds, and of all others what Adopt found when it looked through them last, as far as it is still there.
func (e *Engine) Strays() (found []inventory.Stray, more int) {
	told := e.toldStrays()
	return told.found, told.more
}

// StraysElsewhere counts by kind those of the rest that are in namespaces of others, as far as one look remembers them.
func (e *Engine) StraysElsewhere() map[schema.GroupKind]int { return e.toldStrays().elsewhere }

func (e *Engine) toldStrays() *strays {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if !e.seesInventoriesLocked() {
		return &strays{}
	}
	if e.strays == nil || e.strays.changes != e.cluster.Changes {
		more, stored := 0, e.storedLocked()
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
		told, elsewhere := e.worthTellingLocked(found)
		e.strays = &strays{changes: e.cluster.Changes, found: told, elsewhere: elsewhere, more: more + len(found) - len(told)}
	}
	return e.strays
}

// worthTellingLocked are those of strays that are told by name, and how many of each kind are in namespaces of others.
func (e *Engine) worthTellingLocked(found []inventory.Stray) (told []inventory.Stray, elsewhere map[schema.GroupKind]int) {
	var ours []inventory.Stray
	elsewhere = map[schema.GroupKind]int{}
	kind := func(s inventory.Stray) schema.GroupKind { return s.Key.GVK().GroupKind() }
	for _, stray := range found {
		if in := stray.Key.Namespace; e.us.Guards(in) || e.bringsLocked(in) {
			ours = append(ours, stray)
		} else {
			elsewhere[kind(stray)]++
		}
	}
	slices.SortFunc(ours, byWorth)
	told = inTurn(ours, straysAtMost, kind)
	slices.SortStableFunc(told, byPlace) // those of a place stay in turn, since only the first of them may be told
	return told, elsewhere
}

// inTurn takes at most so many of a list, of each kind the first, then of each the second, and so on.
func inTurn[T any](list []T, most int, kind func(T) schema.GroupKind) []T {
	turns := map[schema.GroupKind]int{}
	turn := make(map[int][]T)
	for _, one := range list {
		k := kind(one)
		turn[turns[k]] = append(turn[turns[k]], one)
		turns[k]++
	}
	most = min(most, len(list))
	taken := make([]T, 0, most)
	for i := 0; len(taken) < most; i++ {
		taken = append(taken, turn[i][:min(len(turn[i]), most-len(taken))]...)
	}
	return taken
}

// byPlace puts what no tenant can have made before what one can crowd it out with.
func byPlace(a, b inventory.Stray) int {
	inNamespace := func(s inventory.Stray) int { return min(len(s.Key.Namespace), 1) }
	return cmp.Compare(inNamespace(a), inNamespace(b))
}

// byWorth is byPlace, and by name in a place.
func byWorth(a, b inventory.Stray) int {
	return cmp.Or(byPlace(a, b), cmp.Compare(a.Key.String(), b.Key.String()))
}

// strays are what was found for as long as nothing that is watched changes.
type strays struct {
	changes int // what Engine.cluster.changes was
	found   []inventory.Stray
	// elsewhere are in namespaces of others, by kind; more counts these too, and all else that is not told by name.
	elsewhere map[schema.GroupKind]int
	more      int
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

// bringsLocked says that a watched revision has a Namespace. Of one that it only has objects in, others may own the rest.
func (e *Engine) bringsLocked(namespace string) bool {
	of := decide.Key{Version: "v1", Kind: "Namespace", Name: namespace}.Identity()
	for _, p := range e.plans {
		if p.keys[of] != nil {
			return true
		}
	}
	return false
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
