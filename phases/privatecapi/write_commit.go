package privatecapi

import (
	"context"

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
	if err := p.sourceChanged(); err != nil {
		return machine.Result{}, err
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
