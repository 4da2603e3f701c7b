package act

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// watchForeignLocked is the watch of one object that has the name of a desired one but not our label, so that no other
// watch shows it. A collision heals at once when the object goes or changes. The cluster's lock is held.
func (e *Engine) watchForeignLocked(key decide.Key, r see.Resource) *see.Watch {
	id := key.Identity()
	if w := e.foreignWatches[id]; w != nil {
		return w
	}
	w := &see.Watch{Cluster: e.cluster, GVK: key.GVK(), Resource: r}
	w.Changed = func(types.NamespacedName) {
		e.markDirtyLocked(key)
		e.kick()
	}
	e.foreignWatches[id] = w
	e.kick()
	return w
}

// tendForeignWatchesLocked starts the watches of objects that are in the way, and stops those of the others: of objects
// that are gone, that have our label, or whose name no revision wants. The cluster's lock is held.
func (e *Engine) tendForeignWatchesLocked(ctx context.Context) {
	for id, w := range e.foreignWatches {
		var key decide.Key
		for _, p := range e.plans {
			if t := p.keys[id]; t != nil {
				key = t.Key
			}
		}
		switch {
		case key == decide.Key{}, w.Gone, e.objectLocked(key) != nil, w.Seen() && w.Objects[key.NamespacedName()] == nil:
			if w.Cancel != nil {
				w.Cancel()
			}
			delete(e.foreignWatches, id)
			e.markDirtyLocked(key)
		case w.Cancel == nil:
			w.Start(ctx, see.View{
				GVR: w.Resource.GVR, Namespace: key.Namespace, Fields: "metadata.name=" + key.Name,
			})
		}
	}
}
