package privatecapi

import (
	"context"
	"maps"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// ScaleDown takes the components' replicas away: first of what scales the others, and when its Pods are gone, of the others. The journal
// has what they ran with until then.
func (p *Pass) ScaleDown(ctx context.Context) (machine.Result, error) {
	if j, changed := p.scaledSince(); changed {
		return p.note(ctx, j, "noted that components were scaled since the move began")
	}
	return p.stop(ctx)
}

// ScaleDownAgain does so on the way back, on which all have the mark of a move, or stand still, and say nothing of what they had.
func (p *Pass) ScaleDownAgain(ctx context.Context) (machine.Result, error) {
	if fence := p.fenceAgain(guards.BothSidesAreShut); fence != nil {
		return p.send(ctx, "putting the fence back", fence)
	}
	return p.stop(ctx)
}

func (p *Pass) stop(ctx context.Context) (machine.Result, error) {
	result, err := p.send(ctx, "scaling down", downs(p.workloads)...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon // Pods take their time, and nothing tells of them
	}
	return result, err
}

func downs(all []workload) []*Write {
	var first, others []*Write
	waits := false
	for _, w := range all {
		if !w.of.Scales {
			others = append(others, w.scaleDown())
			continue
		}
		first = append(first, w.scaleDown())
		waits = waits || w.replicas() > 0 || len(w.pods) > 0
	}
	if waits {
		return first
	}
	return append(first, others...)
}

// scaledSince is the journal with the replicas that components have which run still, and were scaled since they were noted. One that has
// the mark of a move, or stands still, says nothing of what it had.
func (p *Pass) scaledSince() (j journal, changed bool) {
	j = p.journal
	if p.stage() != guards.Moving || p.lacksLock() || j.Move == "" {
		return j, false
	}
	j.Replicas = maps.Clone(j.Replicas)
	for _, w := range p.workloads {
		if _, marked := w.object.GetAnnotations()[PriorReplicas]; !marked && w.had != nil && w.replicas() > 0 && w.replicas() != *w.had {
			j.Replicas[w.of.Name], changed = w.replicas(), true
		}
	}
	return j, changed
}
