package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// WriteCommit makes the target the only side that counts, in one write: there is no way back from it.
func (p *Pass) WriteCommit(ctx context.Context) (machine.Result, error) {
	if p.stage() == guards.Committed {
		return p.send(ctx, "")
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
