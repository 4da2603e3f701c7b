package clusterapi

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine"
)

// Rollout reconciles a revision made of phases, and tears down what it does not
// have and older ones had. It has the shape of boxcutter's revision engine.
type Rollout interface {
	Reconcile(ctx context.Context, revision *engine.Revision, opts ...engine.ReconcileOption) (*engine.Report, error)
	Teardown(ctx context.Context, keep *engine.Revision, opts ...engine.TeardownOption) (*engine.TeardownReport, error)
}

// Engine is a rollout that also tells what it has seen, and keeps inventories.
type Engine interface {
	Rollout
	// Watch says which revisions there are; what they have is watched from then on.
	Watch(revisions ...*engine.Revision)
	// Note says which definitions no revision manages, and which revision is installed; LetGo lets go of the former.
	Note(noted engine.Noted)
	LetGo(ctx context.Context) ([]engine.Key, error)
	// Requirements are what a revision requires of definitions that others install, as it was seen.
	Requirements(revision *engine.Revision) []engine.Requirement
	Look(revision *engine.Revision) *engine.Report
	// Narrowed are the definitions of which a revision would take what is stored or used, by name, with what.
	Narrowed(ctx context.Context, revision *engine.Revision) (map[string]string, error)
	Orphans(keep *engine.Revision) engine.Orphans
	// Inventories are what revisions have applied, also those that no image tells of.
	Inventories() engine.Inventories
	// Announce stores that a revision is about to be listed, and Proofs are what is stored of how revisions were listed.
	Announce(ctx context.Context, revision engine.RevisionRef) error
	Proofs(listed ...int64) engine.Proofs
	Strays() (found []engine.Stray, more int)
	StraysElsewhere() map[schema.GroupKind]int
	// HighestNumber is the highest number that was ever used; listed is the highest that the list of revisions has.
	HighestNumber(ctx context.Context, listed int64) (int64, error)
	Adopt(ctx context.Context, revisions ...engine.RevisionRef) error
	Forget(ctx context.Context, keep *engine.Revision, done *engine.TeardownReport) error
}
