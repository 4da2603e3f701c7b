package simulated

import (
	"context"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// What keeps the operator from reading and writing.

// FailWrites lets writes of ClusterAPI.status fail, or not.
func (c *Cluster) FailWrites(fail bool) { c.unwritable = failing(fail) }

// FailSaves lets writes of the ClusterOperator fail, or not.
func (c *Cluster) FailSaves(fail bool) { c.unsaved = failing(fail) }

// FailReads lets all reads fail, or not.
func (c *Cluster) FailReads(fail bool) { c.unreadable = failing(fail) }

func failing(fail bool) error {
	if fail {
		return errUnreachable
	}
	return nil
}

// Heal ends everything that keeps the operator from its work. What users hold data in stays.
func (c *Cluster) Heal() {
	c.FailWrites(false)
	c.FailSaves(false)
	c.FailReads(false)
	c.Thaw()
	clear(c.Images.trouble)
	c.Engine.Heal()
	c.CreateClusterAPI()
	c.SetPlatform(true)
	c.ListFor("")
	c.FormerInstaller(false, false)
	c.Resume()
	c.Unpin()
}

// Listed counts the listed revisions.
func (c *Cluster) Listed() int {
	if api := c.api(context.Background()); api != nil {
		return len(api.Status.Revisions)
	}
	return 0
}

// Desired is the number of the desired revision, 0 for none.
func (c *Cluster) Desired() int64 {
	if desired := c.desired(); desired != nil {
		return desired.Revision
	}
	return 0
}

// Kinds counts all that the operator has written, by the words that actions name it with.
func (c *Cluster) Kinds() map[string]int {
	kinds := maps.Clone(c.wrote.Fields)
	kinds[phases.WritesObjects] = c.Engine.wrote.Objects
	kinds[phases.WritesDeletions] = c.Engine.wrote.Deletions
	kinds[phases.WritesInventories] = c.Engine.wrote.Inventories
	return kinds
}

// isNew says that an object is to be written that this revision was never applied to.
func (e *Engine) isNew(revision *engine.Revision, key engine.Key) bool {
	there := e.objects[key.String()]
	return e.lookAt(revision, key).Action == engine.Pending && (there == nil || there.number < revision.Number)
}

// holds says that nothing new of a wave is written, because a trial finds an object that is refused for good. A first
// installation tries only the waves of which something is there.
func (e *Engine) holds(revision *engine.Revision, w *wave, firstInstall bool) bool {
	isThere, refused := false, false
	for _, key := range w.keys {
		if e.isNew(revision, key) {
			isThere = isThere || e.objects[key.String()] != nil
			refused = refused || apierrors.IsBadRequest(e.failing[key.String()])
		}
	}
	return refused && (isThere || !firstInstall)
}
