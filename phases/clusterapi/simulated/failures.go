package simulated

import (
	"context"
	"maps"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
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
