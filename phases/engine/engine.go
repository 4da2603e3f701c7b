package engine

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/act"
)

// Config is what an engine works with.
type Config = act.Config

// Noted is what the caller knows of the cluster and revisions do not say.
type Noted = act.Noted

// Engine applies revisions to one cluster and keeps them there. Its methods may be called from several goroutines.
//
// Reconcile, Teardown and LetGo write, and so do Announce, Adopt and Forget, but nothing but inventories. All others only look. A
// revision has to be handed to Watch before any other method takes it.
type Engine struct{ act *act.Engine }

// New makes an engine; nothing is sent before Run.
func New(cfg Config) (*Engine, error) {
	e, err := act.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Engine{e}, nil
}

// Run keeps the watches going until ctx ends, and returns when all of them have.
func (e *Engine) Run(ctx context.Context) error { return e.act.Run(ctx) }

// Watch says which revisions matter from now on: the kinds of their objects and of the inventories are watched, all
// others are not any more. It never blocks; kinds that are not served yet are watched as soon as they are.
func (e *Engine) Watch(revs ...*Revision) { e.act.Watch(revs...) }

// Note says what the caller knows of the cluster and revisions do not say; it counts from then on in all other methods.
func (e *Engine) Note(n Noted) { e.act.Note(n) }

// LetGo takes our marks and the ownership of fields off the CRDs that are noted as unmanaged and were ours, and changes
// nothing else of them. It gives back those that it has let go of.
func (e *Engine) LetGo(ctx context.Context) ([]Key, error) { return e.act.LetGo(ctx) }

// Requirements are the CompatibilityRequirements of a revision that are about one CRD each, as they were seen. It sends nothing.
func (e *Engine) Requirements(rev *Revision) []Requirement { return e.act.Requirements(rev) }

// Reconcile takes a revision as far as it can go now: wave by wave, each written once the one before is applied and its
// probes pass. It does not wait for anything; a watch brings the next call. Waves that this revision has reached once
// are kept applied even when a probe before them fails again. The error joins what went wrong; the report comes back in
// any case.
func (e *Engine) Reconcile(ctx context.Context, rev *Revision, opts ...ReconcileOption) (*Report, error) {
	return e.act.Reconcile(ctx, rev, ReconcileOptionsOf(opts...))
}

// Teardown deletes what only older revisions than the current one have, in the reverse of the order of installation: the
// next step begins when the former is gone. It refuses to start before current is applied as a whole. What holds users'
// data is retained, which is no error, unless the administrator consented to lose exactly that: then it goes with its data. The
// report comes back in any case.
func (e *Engine) Teardown(ctx context.Context, current *Revision, opts ...TeardownOption) (*TeardownReport, error) {
	return e.act.Teardown(ctx, current, TeardownOptionsOf(opts...))
}

// Forget ends a finished Teardown: what was retained is listed with the current revision, so that it is deleted when it
// holds nothing any more, and then the older inventories go. It writes nothing when there is nothing to forget.
func (e *Engine) Forget(ctx context.Context, current *Revision, done *TeardownReport) error {
	return e.act.Forget(ctx, current, done)
}

// Adopt gives inventories to those of the revisions that have none, so that what only they have can be pruned: it looks
// for their objects by label and revision annotation among all kinds that the API server serves, and lists those that no
// other installation and no controller has. It is safe to repeat, and sends nothing when none is missing.
func (e *Engine) Adopt(ctx context.Context, revs ...RevisionRef) error {
	return e.act.Adopt(ctx, revs...)
}

// Narrowed are the definitions of which a revision would take what is stored or used, by name, with what. It sends no write.
func (e *Engine) Narrowed(ctx context.Context, rev *Revision) (map[string]string, error) {
	return e.act.Narrowed(ctx, rev)
}

// Look says where a revision stands from what the watches have seen. It sends nothing and writes nothing, and costs only
// as much as there is that changed since the last time. Before everything was seen once the report is Unknown.
func (e *Engine) Look(rev *Revision) *Report { return e.act.Look(rev) }

// ListInventories shows an engine that does not run the inventories as they are now.
func (e *Engine) ListInventories(ctx context.Context) error { return e.act.ListInventories(ctx) }

// Foresee says what Reconcile and then Teardown would make of a revision, from lists and dry runs: it decides as they do, by the
// same code, and changes nothing. The engine does not run.
func (e *Engine) Foresee(ctx context.Context, rev *Revision, opts ForeseeOptions) (*Forecast, error) {
	return e.act.Foresee(ctx, rev, opts)
}

// Compare foresees what would come of a revision after another one by their manifests alone, where nothing else is there.
func Compare(from, to *Revision) (*Forecast, error) { return act.Compare(from, to) }

// Orphans looks up in the inventories what Teardown would have to look at.
func (e *Engine) Orphans(current *Revision) Orphans { return e.act.Orphans(current) }

// Holds reads an object, and lists all that would be lost with it. It is an error with which apierrors.IsNotFound agrees if
// there is no such object.
func (e *Engine) Holds(ctx context.Context, key Key) (*Loss, error) { return e.act.Holds(ctx, key) }

// Announce stores that a revision is about to be listed, and how: an inventory that lists nothing yet. It makes a number
// that of one content before anybody can see it, and its entry provable by Proofs. It is safe to repeat.
func (e *Engine) Announce(ctx context.Context, rev RevisionRef) error {
	return e.act.Announce(ctx, rev)
}

// Proofs looks up which revisions the stored inventories prove to be listed, and how; those of the listed numbers whatever room
// others take. It costs no request.
func (e *Engine) Proofs(listed ...int64) Proofs { return e.act.Proofs(listed...) }

// Inventories looks up what the stored inventories list: what runs, where no image tells it.
func (e *Engine) Inventories() Inventories { return e.act.Inventories() }

// Strays are the objects of the cluster and of the installation's own namespaces that carry its marks and that neither a
// watched revision nor an inventory lists, at most 100 of them; more counts the rest, and those in namespaces of others. They
// are for people to judge: nothing deletes them.
func (e *Engine) Strays() (found []Stray, more int) { return e.act.Strays() }

// StraysElsewhere counts by kind those strays that are in namespaces of others. Strays counts them too.
func (e *Engine) StraysElsewhere() map[schema.GroupKind]int { return e.act.StraysElsewhere() }

// HighestNumber is the highest revision number that was ever used here, 0 if none was: numbers must not be used again
// even when the list of revisions was lost. It asks the API server; listed is the highest that the caller knows.
func (e *Engine) HighestNumber(ctx context.Context, listed int64) (int64, error) {
	return e.act.HighestNumber(ctx, listed)
}

// CheckNotFound is an error if a 404 says nothing of an object: it is about the kind, which the API server announces, or may
// announce a moment later, because it is starting. It sends nothing if the 404 is about the object.
func (e *Engine) CheckNotFound(ctx context.Context, kind schema.GroupVersionKind, notFound error) error {
	return e.act.CheckNotFound(ctx, kind, notFound)
}

// ReconcileOptions are what a ReconcileOption sets. Another implementation of Reconcile reads its options here too.
type ReconcileOptions = act.ReconcileOptions

// ReconcileOption changes what Reconcile does.
type ReconcileOption func(*ReconcileOptions)

// Keep keeps a revision that was applied before as it was: drift is repaired and what was deleted is created again, in
// all waves at once and without gates. What a newer revision has taken over is left alone.
func Keep() ReconcileOption { return func(o *ReconcileOptions) { o.Keep = true } }

// FirstInstall says that no revision has ever been current. Nothing at work depends on a wave then, so its objects are
// created without a trial: one that is refused keeps the next wave from being written, and not the rest of its own. What is
// in the cluster already is tried as ever.
func FirstInstall() ReconcileOption { return func(o *ReconcileOptions) { o.FirstInstall = true } }

// ReconcileOptionsOf sets all options.
func ReconcileOptionsOf(opts ...ReconcileOption) ReconcileOptions {
	var o ReconcileOptions
	for _, set := range opts {
		set(&o)
	}
	return o
}

// TeardownOptions are what a TeardownOption sets. Another implementation of Teardown reads its options here too.
type TeardownOptions = act.TeardownOptions

// TeardownOption changes what Teardown does.
type TeardownOption func(*TeardownOptions)

// Consented says what an administrator consented to lose, by the identities of objects, for the revision that stays. Each counts
// for that very object while it holds exactly that, which is looked at anew right before it would be deleted.
func Consented(to map[Key]Consent) TeardownOption {
	return func(o *TeardownOptions) { o.Consents = to }
}

// Losing has somebody told before the deletion of an object by a consent is sent, with its UID. What was deleted so may be gone
// before this process says it. Lost are those that another process may have sent so.
func Losing(tell func(key Key, uid types.UID), lost map[Key]types.UID) TeardownOption {
	return func(o *TeardownOptions) { o.Losing, o.Lost = tell, lost }
}

// Standing asks whether the consents stand still, right before each deletion by one, with nothing between the answer and the
// deletion: nothing is deleted by those that do not, or of which nobody knows.
func Standing(ask func() (bool, error)) TeardownOption {
	return func(o *TeardownOptions) { o.Stands = ask }
}

// OnlyLook deletes nothing: what would be deleted is reported as Pending.
func OnlyLook() TeardownOption { return func(o *TeardownOptions) { o.OnlyLook = true } }

// TeardownOptionsOf sets all options.
func TeardownOptionsOf(opts ...TeardownOption) TeardownOptions {
	var o TeardownOptions
	for _, set := range opts {
		set(&o)
	}
	return o
}
