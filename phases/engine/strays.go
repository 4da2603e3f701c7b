package engine

import (
	"cmp"
	"slices"
	"strconv"
)

// Stray is an object with our marks of which nobody knows where it came from.
type Stray struct {
	Key    Key
	Number int64 // of the revision that it carries
}

// Strays are the objects that carry the marks of this installation and that neither a watched revision nor an inventory
// lists, in order of their names: what a lost inventory left behind, or a copy that somebody made of an object. They are
// for people to judge: nothing deletes them. It sends nothing, and so knows of watched kinds only.
func (e *Engine) Strays() []Stray {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inventories == nil || !e.inventories.synced {
		return nil
	}
	if e.strays == nil || e.strays.changes != e.changes {
		e.strays = &strays{changes: e.changes, found: e.findStrays()}
	}
	return e.strays.found
}

// strays are what was found for as long as nothing that is watched changes.
type strays struct {
	changes int // what Engine.changes was
	found   []Stray
}

func (e *Engine) findStrays() []Stray {
	var found []Stray
	var listed map[Key]bool // only made for an object that no revision has
	for gvk, w := range e.watches {
		for name, o := range w.objects {
			number, marked := e.marked(o)
			if !marked {
				continue
			}
			key := Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: name.Namespace, Name: name.Name}
			if e.isPlanned(key) {
				continue
			}
			if listed == nil {
				listed = e.listedKeys()
			}
			if !listed[key.identity()] {
				found = append(found, Stray{key, number})
			}
		}
	}
	slices.SortFunc(found, func(a, b Stray) int { return cmp.Compare(a.Key.String(), b.Key.String()) })
	return found
}

// marked reads whose an object says it is: this installation's, or nobody else's but with a revision's number.
func (e *Engine) marked(o *observed) (number int64, ours bool) {
	number, err := strconv.ParseInt(o.Annotations[RevisionAnnotation], 10, 64)
	numbered := err == nil && number > 0
	switch o.Annotations[OwnerAnnotation] {
	case e.cfg.Owner:
		return number, true
	case "":
		return number, numbered
	}
	return 0, false
}

func (e *Engine) isPlanned(key Key) bool {
	for _, p := range e.plans {
		if p.keys[key.identity()] != nil {
			return true
		}
	}
	return false
}

// listedKeys are the objects of all inventories, by identity.
func (e *Engine) listedKeys() map[Key]bool {
	listed := map[Key]bool{}
	for _, s := range e.storedLocked() {
		if s.inventory == nil {
			continue
		}
		for _, entry := range s.inventory.Entries {
			listed[entry.key().identity()] = true
		}
	}
	return listed
}
