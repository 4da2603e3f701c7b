package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// ScaleDown takes the components' replicas away: first of what scales the others, and when its Pods are gone, of the others.
func (p *Pass) ScaleDown(ctx context.Context) (machine.Result, error) {
	if fence := p.fenceAgain(guards.BothSidesAreShut); fence != nil {
		return p.send(ctx, "putting the fence back", fence)
	}
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
