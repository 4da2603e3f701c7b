package privatecapi

import (
	"context"
	"errors"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// WriteCommit makes the target the only side that counts, in one write: there is no way back from it.
func (p *Pass) WriteCommit(ctx context.Context) (machine.Result, error) {
	if p.stage() == guards.Committed || p.lacksLock() {
		return p.send(ctx, "")
	}
	if plan, err := p.equipment(); err != nil || len(plan) > 0 { // what speaks to the source must not be left alone with the target
		return p.SetSidecars(ctx)
	}
	if err := p.sides.sourceCounts(); err != nil {
		return machine.Result{}, err
	}
	if err := p.sides.dying(); err != nil {
		return machine.Result{}, err
	}
	if p.sourceChanged() {
		return machine.Result{}, machine.Terminal(errors.New("the source is not what it was when it was counted: somebody has written to it behind the fence, and a commit would delete that"))
	}
	companion := p.facts.Marks.Companion
	companion.Stage, companion.Reason = guards.Committed, ""
	marks := p.legacyOff()
	marks[guards.PrivateTypesAnnotation] = guards.MarkTrue
	if companion.Direction == guards.ToStandard {
		marks = p.legacyOn()
		marks[guards.PrivateTypesAnnotation] = nil
	}
	marks[guards.FailedAnnotation] = nil
	marks[guards.CompanionAnnotation], marks[guards.MigrationAnnotation] = companion.Text(), guards.MarkTrue
	return p.send(ctx, "committing", p.mark(marks))
}
