package privatecapi

import (
	"context"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// lately is how long ago an outage of the API server may have ended that has a move given up.
const lately = 2 * time.Minute

// RepauseTarget says first that the move is undone, so that a commit that is under way meets another version, and then stops the
// target. An undone of a move whose fence still says that the target runs does not count: the source lacks what the target did.
func (p *Pass) RepauseTarget(ctx context.Context) (machine.Result, error) {
	switch stage := p.stage(); {
	case stage == guards.Live, stage == guards.Undone && p.fenceNames(guards.Live): // who has written that has brought nothing back
		return p.send(ctx, "saying that the move is undone", p.restage(guards.Undoing, p.reason()))
	case stage == guards.Moving:
		return p.send(ctx, "saying that the move is undone", p.restage(guards.Undone, p.reason()))
	}
	plan := append([]*Write{p.shut(guards.BothSidesAreShut)}, p.sides.eachCluster(true, pause)...)
	result, err := p.send(ctx, "stopping the target", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon // the API servers learn of the fence one by one
	}
	return result, err
}

// reason is why the move is undone.
func (p *Pass) reason() guards.Reason {
	if reason := p.facts.Marks.Companion.Reason; reason != "" {
		return reason
	}
	back := p.memory.of(p.Key, nil).back
	unreachable := !back.IsZero() && p.Now().Sub(back) < lately
	from, on := p.record.CameFrom, p.record.LastEvent
	for _, made := range slices.Backward(p.record.Transitions) {
		if made.To == guards.Repausing && made.From != guards.RollbackBlocked {
			from, on = made.From, made.Event
			break
		}
	}
	return guards.ReasonFor(from, on, unreachable)
}
