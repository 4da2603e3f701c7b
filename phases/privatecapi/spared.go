package privatecapi

import (
	"context"
	"maps"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// The way back of a move whose target never ran has to see only what the move has touched: the fence kept everything else as it was. So
// one kind that cannot be listed, of which there is nothing to be undone, does not leave a data plane drained. What the move has touched
// is said by its journal. One that was lost says nothing, and then all has to be seen.

// undoing are the states of the way back, the end of it included.
var undoing = []machine.State{
	guards.Repausing, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies, guards.Restoring, guards.Unlocking,
}

// knowsTouched says that the journal tells what is to be undone.
func (p *Pass) knowsTouched() bool {
	stage := p.stage()
	return slices.Contains(undoing, p.facts.Then.State) && p.journal.Move != "" && !p.ran() && (stage == guards.Moving || stage == guards.Undone)
}

// lookAtSides fails where a kind cannot be listed that has to be seen.
func (p *Pass) lookAtSides(ctx context.Context, namespace string) error {
	seen, unlisted := p.sidesIn(ctx, p.kinds, sourceSide(p.direction()), namespace)
	seen.move, seen.ran = p.move(), p.ran()
	for _, kind := range slices.Sorted(maps.Keys(unlisted)) {
		if !p.isSpared(kind, seen) {
			return unlisted[kind]
		}
	}
	p.sides = seen
	return nil
}

// isSpared says that nothing of a kind has to be undone: none of its objects was counted before the first one was copied, or none was
// counted yet, and so nothing was copied. A Cluster has its pause to get back all the same. A journal from before the copies that are
// there is an old one.
func (p *Pass) isSpared(kind string, seen *sides) bool {
	if !p.knowsTouched() || slices.ContainsFunc(p.kinds, func(k Kind) bool { return isCluster(k) && k.name() == kind }) {
		return false
	}
	if p.journal.Hash == "" {
		return !slices.ContainsFunc(seen.couples, func(c couple) bool { return c.target != nil && !seen.isStranger(c) })
	}
	return p.journal.Counts[kind] == 0 && p.journal.Counts[otherKinds] == 0
}

// neededDependents are the kinds of other groups that have to be seen: on the way back those that have got second owners, and all once
// components were started, which may have made something that belongs to copies alone. A journal that knows of none, while originals say
// that they have copies, may be an old one.
func (p *Pass) neededDependents() Needed {
	hasCopies := slices.ContainsFunc(p.sides.couples, func(c couple) bool { return c.source != nil && c.wasCopied() })
	if !p.knowsTouched() || p.facts.Marks.Companion.Started || len(p.journal.Owned) == 0 && hasCopies {
		return Needed{All: true}
	}
	return Needed{Kinds: p.journal.Owned}
}
