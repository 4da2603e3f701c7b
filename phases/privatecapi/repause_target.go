package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// RepauseTarget says first that the move is undone, so that a commit that is under way meets another version, and then stops the
// target. An undone of a move whose fence still says that the target runs does not count: the source lacks what the target did.
func (p *Pass) RepauseTarget(ctx context.Context) (machine.Result, error) {
	switch stage := p.stage(); {
	case stage == guards.Live, stage == guards.Undone && p.fenceNames(guards.Live): // who has written that has brought nothing back
		return p.send(ctx, "saying that the move is undone", p.restage(guards.Undoing, guards.ReasonOf(p.facts)))
	case stage == guards.Moving:
		return p.send(ctx, "saying that the move is undone", p.restage(guards.Undone, guards.ReasonOf(p.facts)))
	}
	plan := append([]*Write{p.shut(guards.BothSidesAreShut)}, p.sides.eachCluster(true, pause)...)
	result, err := p.send(ctx, "stopping the target", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon // the API servers learn of the fence one by one
	}
	return result, err
}
