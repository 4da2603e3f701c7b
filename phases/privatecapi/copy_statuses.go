package privatecapi

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// CopyStatuses gives each copy the status of its source, and when all have theirs, the managedFields: any write after these would
// add to them.
func (p *Pass) CopyStatuses(ctx context.Context) (machine.Result, error) {
	plan := p.sides.statusWrites()
	if len(plan) == 0 {
		plan = p.sides.managerWrites()
	}
	return p.send(ctx, "copying statuses", plan...)
}

func (s *sides) statusWrites() []*Write {
	var plan []*Write
	for _, c := range s.couples {
		if c.isCopy() && !s.hasStatus(c) {
			plan = append(plan, s.statusWrite(c))
		}
	}
	return plan
}

// statusWrite gives a copy the status of its source.
func (s *sides) statusWrite(c couple) *Write {
	o := c.target.DeepCopy()
	delete(o.Object, "status")
	if status := statusOf(c.source, s.source.to, s.copied, c.target.GetGeneration()); status != nil {
		o.Object["status"] = status
	}
	return &Write{
		Verb: Replace, Kind: c.kinds.target, Namespace: o.GetNamespace(), Name: o.GetName(), Status: c.kinds.target.Status,
		UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Body: o.Object,
	}
}

func (s *sides) managerWrites() []*Write {
	var plan []*Write
	for _, c := range s.couples {
		if c.isCopy() && !s.hasManagers(c) {
			plan = append(plan, patchOf(c.kinds.target, c.target, map[string]any{"metadata": map[string]any{"managedFields": managersOf(c.source, s.source.to, c.kinds.served)}}))
		}
	}
	return plan
}
