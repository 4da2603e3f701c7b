package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// Classify marks a HostedCluster that has no mark.
func (p *Pass) Classify(ctx context.Context) (machine.Result, error) {
	due, known := guards.MarkFor(p.facts)
	if !known {
		return machine.Result{LookAgain: soon}, nil
	}
	if due == guards.ToStandard {
		return p.send(ctx, "marking as of the old operator", p.mark(p.legacyOn()))
	}
	return p.send(ctx, "marking as of the new operator", p.mark(map[string]any{guards.PrivateTypesAnnotation: guards.MarkTrue}))
}
