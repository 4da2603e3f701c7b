package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// ScaleUp gives the components their replicas, but for those that wait until the source is gone. That they were started is said first:
// whatever they make belongs to copies alone.
func (p *Pass) ScaleUp(ctx context.Context) (machine.Result, error) {
	if companion := p.facts.Marks.Companion; !companion.Started {
		companion.Started = true
		return p.send(ctx, "saying that the components are started", p.mark(map[string]any{guards.CompanionAnnotation: companion.Text()}))
	}
	var plan []*Write
	for _, w := range p.workloads {
		if !w.of.Waits {
			plan = append(plan, w.scaleUp())
		}
	}
	result, err := p.send(ctx, "scaling up", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon
	}
	return result, err
}
