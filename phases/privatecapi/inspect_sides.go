package privatecapi

import (
	"context"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// lookAgain is after how long a namespace is looked at again that only people can put right.
const lookAgain = time.Minute

// InspectSides leaves the mark of the side that has the objects. What a move without a lock has left on these is put back before its
// fence goes. Where both sides have objects, nobody can tell which of them count. See [guards.SideFor].
func (p *Pass) InspectSides(ctx context.Context) (machine.Result, error) {
	var plan []*Write
	var err error
	switch side, known := guards.SideFor(p.facts); {
	case known && side == guards.ToStandard:
		marks := p.legacyOn()
		marks[guards.PrivateTypesAnnotation] = nil
		plan, err = p.alone(Standard, marks)
	case known:
		marks := p.legacyOff()
		marks[guards.PrivateTypesAnnotation] = guards.MarkTrue
		plan, err = p.alone(Private, marks)
	case !p.facts.Marks.Locked() && p.facts.Standard.Objects > 0 && p.facts.Private.Objects > 0 && p.facts.Marks.Failed == "":
		plan = []*Write{p.mark(map[string]any{guards.FailedAnnotation: string(guards.AmbiguousState)})}
	default:
		return machine.Result{LookAgain: lookAgain}, nil
	}
	if err != nil {
		return machine.Result{}, err
	}
	result, err := p.send(ctx, "putting the marks right", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = lookAgain
	}
	return result, err
}

// alone are the writes that make of what is there a HostedCluster of one side.
func (p *Pass) alone(side Side, marks map[string]any) ([]*Write, error) {
	plan, err := p.inOrder(func(w workload) *Write {
		if side == Standard {
			return w.restore(p.Equipment, side)
		}
		return w.settle(p.Equipment, side)
	})
	if err != nil {
		return nil, err
	}
	for _, target := range []bool{false, true} {
		plan = append(plan, p.sides.unmarkAll(target)...)
	}
	if p.differ(marks) {
		return append(plan, p.mark(marks), p.shut(guards.NoFence)), nil
	}
	plan = append(plan, p.shut(guards.NoFence))
	if p.facts.Cluster.Bound { // last: one that goes leaves nobody to take the fence off
		plan = append(plan, patchOf(HostedClusters, p.Hosted, map[string]any{"metadata": map[string]any{"finalizers": p.finalizers(false)}}))
	}
	return plan, nil
}

// differ says that the HostedCluster does not have these annotations.
func (p *Pass) differ(values map[string]any) bool {
	now := p.Hosted.GetAnnotations()
	for key, value := range values {
		text, is := now[key]
		if is != (value != nil) || is && text != value {
			return true
		}
	}
	return false
}
