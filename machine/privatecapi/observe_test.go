package privatecapi_test

import (
	"errors"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// observe looks at the world as a pass does.
func (w *world) observe() (guards.Facts, error) {
	if w.faults.blind > 0 {
		if w.faults.blind--; w.faults.blind == 0 {
			w.outages++
		}
		return guards.Facts{}, errors.New("the API server does not answer")
	}
	f := guards.Facts{
		Seen:    true,
		Cluster: guards.Cluster{Namespace: "clusters", Name: "a", UID: "u", Created: w.programme.Enabled, Deleting: w.hosted.deleting, Bound: w.hosted.finalizer, ControlPlane: "clusters-a"},
		Marks:   w.marks(), Programme: w.programme, Turn: guards.Turn{Known: true, Ours: w.turn, Of: "clusters/b"},
		Fence:    guards.Fenced{Known: true, Label: w.fence.is, Probed: true},
		Standard: w.side(guards.ToStandard), Private: w.side(guards.ToPrivate),
		Pods: guards.Pods{Known: true}, Outages: w.outages,
	}
	source, target := w.sides[f.Direction().Other()], w.sides[f.Direction()]
	f.Checks = guards.Checks{Known: w.checked}
	if w.checked && len(target) > 0 {
		f.Checks.Refused = []string{"copies are left"}
	}
	if w.pods {
		f.Pods.Left = []string{"capi-1"}
	}
	f.Workloads = w.workloads(f.Direction())
	f.Snapshot = tally(1, count(w.journal == len(source)))
	f.Copies, f.Statuses, f.Dependents, f.Comparison, f.Delta = tally(len(source), 0), tally(len(source), 0), tally(len(source), 0), tally(len(source), 0), tally(len(target), 0)
	for name, o := range source {
		twin := target[name]
		f.Copies.Done += count(twin != nil)
		f.Statuses.Done += count(twin != nil && twin.status == o.status)
		f.Comparison.Done += count(twin != nil && same(o, twin))
		f.Delta.Done += count(twin != nil && same(o, twin))
		owners := w.owners[name]
		f.Dependents.Done += count(owners == nil || owners.is[f.Direction()])
	}
	if len(source) != len(target) || w.faults.unequal {
		f.Comparison.Missing = []string{"an object differs"}
	}
	f.Health = tally(1, count(w.pods && w.podsEquipped == (f.Direction() == guards.ToPrivate) && !w.faults.unwell))
	const many = 100
	f.Removed = tally(many, many-len(source))
	seconds := 0
	for _, owners := range w.owners {
		seconds += count(owners.is[f.Direction()])
	}
	f.Dropped = tally(many, many-len(target)-seconds)
	marks := count(w.pauses[guards.ToStandard].is.noted != nil) + count(w.pauses[guards.ToPrivate].is.noted != nil) + count(w.component.is.noted != nil)
	f.Undo = tally(many, many-marks)
	return f, nil
}

func same(a, b *object) bool { return a.content == b.content && a.status == b.status }

func (w *world) side(s guards.Direction) guards.Side {
	p, none := w.pauses[s].is, len(w.sides[s]) == 0
	return guards.Side{Known: true, Objects: len(w.sides[s]), Paused: none || p.is, Restored: none || p.noted == nil}
}

func (w *world) workloads(to guards.Direction) guards.Workloads {
	c := w.component.is
	whole := c.replicas == replicas && c.autoscaler == autoscaling
	f := guards.Workloads{
		Known: true, Equipped: tally(1, count(c.equipped == (to == guards.ToPrivate))), Available: tally(1, count(c.replicas == replicas && w.pods)),
		Standard: whole && !c.equipped, Private: whole && c.equipped,
	}
	if c.replicas > 0 {
		f.ScaledUp = append(f.ScaledUp, "capi")
	}
	if c.autoscaler > 0 {
		f.ScaledUp = append(f.ScaledUp, "cluster-autoscaler")
	}
	return f
}

func tally(wanted, done int) guards.Tally {
	return guards.Tally{Known: true, Wanted: wanted, Done: done}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
