package act

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

const (
	// foreignWatchesAtMost bounds the watches of objects that are in the way. The others of them are read.
	foreignWatchesAtMost = 20
	// readForeignEvery is how often an object in the way is read that is not watched.
	readForeignEvery = 30 * time.Second
)

// foreignWatch is the watch of an object that is in the way.
type foreignWatch struct {
	*see.Watch
	read time.Time // when the object was read last
}

// due says that what is known of the object was not seen by a watch, and not read for a while.
func (w *foreignWatch) due(now time.Time) bool {
	return !w.Seen() && now.Sub(w.read).Abs() >= readForeignEvery
}

// notifyIfForeignDue asks for a pass when an object in the way is to be read.
func (e *Engine) notifyIfForeignDue() {
	e.cluster.Lock()
	now, due := e.cfg.Clock.Now(), false
	for _, w := range e.foreignWatches {
		due = due || w.due(now)
	}
	e.cluster.Unlock()
	if due {
		e.cfg.Notify()
	}
}

// watchForeignLocked is the watch of one object that has the name of a desired one but not our label, so that no other
// watch shows it. A collision heals at once when the object goes or changes. The cluster's lock is held.
func (e *Engine) watchForeignLocked(key decide.Key, r see.Resource) *foreignWatch {
	id := key.Identity()
	if w := e.foreignWatches[id]; w != nil {
		return w
	}
	w := &foreignWatch{Watch: &see.Watch{Cluster: e.cluster, GVK: key.GVK(), Resource: r}}
	w.Changed = func(types.NamespacedName) {
		e.markDirtyLocked(key)
		e.kick()
	}
	e.foreignWatches[id] = w
	e.kick()
	return w
}

// tendForeignWatchesLocked starts the watches of objects that are in the way, as many as there may be, and stops those of
// the others: of objects that are gone, that have our label, or whose name no revision wants. The cluster's lock is held.
func (e *Engine) tendForeignWatchesLocked(ctx context.Context) {
	started := 0
	for _, w := range e.foreignWatches {
		if w.Cancel != nil {
			started++
		}
	}
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
				started--
			}
			delete(e.foreignWatches, id)
			e.markDirtyLocked(key)
		case w.Cancel == nil && started < foreignWatchesAtMost:
			started++
			w.Start(ctx, see.View{
				GVR: w.Resource.GVR, Namespace: key.Namespace, Fields: "metadata.name=" + key.Name,
			})
		}
	}
}
