package see

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Add is called by the reflector for an object that appeared.
func (w *Watch) Add(obj any) error { return w.Update(obj) }

// Update is called by the reflector for an object that changed.
func (w *Watch) Update(obj any) error {
	if o, isObject := obj.(*Object); isObject {
		w.change(func() bool { return !w.Gone && w.keep(o) })
	}
	return nil
}

// Delete is called by the reflector for an object that was deleted or lost the label.
func (w *Watch) Delete(obj any) error {
	o, isObject := obj.(*Object)
	if !isObject {
		return nil
	}
	w.change(func() bool {
		// What we wrote after the deletion was created or labelled again.
		if old := w.Objects[o.NamespacedName()]; old == nil || w.aheadOf(o.NamespacedName(), o.ResourceVersion) {
			return false
		} else if old.isNobodys() {
			delete(w.Objects, o.NamespacedName())
			return false
		}
		w.Drop(o.NamespacedName())
		w.noteDeletion(o.NamespacedName(), o.ResourceVersion)
		return true
	})
	return nil
}

// Replace is called by the reflector after a list, which is of no time before it was asked for: what we wrote until then is
// in it, unless the API server itself has gone back. Copies of writes from after that, which are newer than the list, stay
// for a while. Copies that are the same stay the same, so that nothing is decided again.
func (w *Watch) Replace(list []any, version string) error {
	w.noteErr(nil)
	w.change(func() bool {
		maps.DeleteFunc(w.wrote, func(_ types.NamespacedName, at time.Time) bool { return at.Before(w.began) })
		listed := make(map[types.NamespacedName]bool, len(list))
		for _, obj := range list {
			if o, isObject := obj.(*Object); isObject {
				listed[o.NamespacedName()] = true
				w.keep(o)
			}
		}
		for name := range w.Objects {
			if !listed[name] && !w.aheadOf(name, version) {
				w.Drop(name)
			}
		}
		w.lists, w.listed = 0, version
		if !w.Synced {
			w.Synced = true
			w.Cluster.Reset()
			w.Cluster.Kick()
		}
		return true
	})
	return nil
}

// Resync has no meaning here.
func (w *Watch) Resync() error { return nil }
