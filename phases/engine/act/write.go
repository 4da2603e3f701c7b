package act

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

const (
	// attempts bounds how often one object is read and decided on again in one pass.
	attempts = 5
	// writeTimeout bounds one write whose client sets no limit: above the 30 s that a webhook may take at most. A write that
	// was not answered is not sent again in the same pass.
	writeTimeout = 40 * time.Second
)

// effect is whether a request changes anything.
type effect int

const (
	lasting effect = iota
	dryRun         // the API server only says whether it would take the request
	judged         // the API server is not even asked that
)

// attempt brings one object to what is desired, or only tries to. What it finds out on the way (an object that the
// watches could not see, a newer copy) stays in the job.
func (r *run) attempt(ctx context.Context, j *job, as effect) error {
	if j.resource.Namespaced != (j.t.Key.Namespace != "") {
		return &decide.ScopeError{Namespaced: j.resource.Namespaced}
	}
	if j.readFirst {
		if err := r.read(ctx, j); err != nil {
			return err
		}
	} else {
		j.see(j.seen)
	}
	want := decide.Desired{Manifest: j.t.Manifest}
	var err error
	for range attempts {
		if j.actual != nil && want.Payload == nil {
			want = r.desired(j)
		}
		j.verdict = r.decide(j, want)
		if j.settled = !j.verdict.Writes() || j.verdict.Deferrable() && !j.migrates || j.left; j.settled {
			return nil
		}
		if r.changesPresent(j) {
			return errPresent
		}
		if refused, err := r.refuseUnsafe(ctx, j, want.Payload); refused || err != nil || as == judged {
			return err
		}
		var result *see.Object
		result, err = r.send(ctx, j, want, as)
		if r.noteSilence(err); err == nil {
			if as == dryRun {
				j.foreseen.answer = result
				return nil
			}
			r.note(j)
			r.take(j, result, &want)
			if j.verdict.Single() {
				return nil
			}
			continue // a POST is still to be recorded as an apply, and an apply may follow that
		}
		var again bool
		if again, err = r.handleError(ctx, j, err, as); !again {
			break
		}
	}
	if did, wrote := r.noted(j); err != nil && wrote && did.Action == decide.Created && j.verdict.Migrate {
		r.e.cfg.Log.V(1).Info("A creation is not yet recorded as applied", "object", j.t.Key.String(), "error", err.Error())
		return nil // the object is there; the next pass records it
	}
	return err
}

// take sees what was written, and which fields of what is desired the API server has dropped where that was all of it.
func (r *run) take(j *job, written *see.Object, want *decide.Desired) {
	j.see(written)
	if j.verdict.Action != decide.Created && (j.verdict.Migrate || j.verdict.Release) {
		return
	}
	if want.Payload == nil {
		*want = r.desired(j)
	}
	want.Dropped = decide.Dropped(want.Payload.Object, j.actual.Object)
	j.dropped = want.Dropped
}

// handleError takes in why a request was refused, and says whether to decide once more with what is there now. The error is
// what is left to be said if that does not help either.
func (r *run) handleError(ctx context.Context, j *job, apiErr error, as effect) (again bool, err error) {
	if fields := report.ImmutableFields(apiErr); len(fields) > 0 && j.verdict.Action != decide.Created && !j.verdict.Deferrable() {
		return r.recreate(ctx, j, fields, apiErr, as)
	}
	j.force = j.force || apierrors.HasStatusCause(apiErr, metav1.CauseTypeFieldManagerConflict)
	lost := j.verdict.Action != decide.Created && apierrors.IsNotFound(apiErr)
	if !lost && !apierrors.IsAlreadyExists(apiErr) && !apierrors.IsConflict(apiErr) && !refusesVersion(j, apiErr) {
		return false, apiErr
	}
	if err := r.read(ctx, j); err != nil {
		return false, err
	}
	j.mustPost = j.mustPost || as == lasting && j.verdict.Action == decide.Created && j.actual == nil // nothing was in the way but the version
	return true, apiErr
}

// decide says what is to be done with an object now, and remembers if it had to be deleted first.
func (r *run) decide(j *job, want decide.Desired) decide.Verdict {
	v := decide.Reconcile(want, j.actual, r.p.rev.Number, r.e.us)
	if j.recreated != "" && v.Writes() {
		v.Why = j.recreated
	}
	return v
}

// send is the one request that a verdict asks for.
func (r *run) send(ctx context.Context, j *job, want decide.Desired, as effect) (*see.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	switch {
	case j.verdict.Action == decide.Created:
		return r.create(ctx, j, as)
	case j.verdict.Release && as == lasting:
		patch, err := decide.ReleaseController(j.actual)
		return r.patch(ctx, j, patch, err)
	case j.verdict.Migrate && as == lasting:
		return r.migrate(ctx, j, want)
	}
	return r.update(ctx, j, as)
}

// desired is the object of a job as it is sent, with what is known of its fields.
func (r *run) desired(j *job) decide.Desired {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return j.t.desiredLocked()
}

// note remembers the first thing that was done with an object in this pass, and that it was read or written.
func (r *run) note(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, noted := r.wrote[j.t.Key]; !noted {
		r.wrote[j.t.Key] = j.verdict
	}
}

func (r *run) noted(j *job) (decide.Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, wrote := r.wrote[j.t.Key]
	return v, wrote
}

// finish remembers what came of a job.
func (r *run) finish(j *job, err error) {
	t := j.t
	defer j.forget()
	if r.e.throttle.Caused(err) {
		return
	}
	if err != nil && j.verdict.Deferrable() {
		r.postpone(j, err)
		return
	}
	if err != nil {
		if report.IsSchemaRefusal(err) && r.e.awaitsSchema(t.Key) {
			err = &report.StaleSchemaError{Err: err}
		}
		verb := "updating"
		if j.verdict.Action == decide.Created {
			verb = "creating"
		}
		r.p.mu.Lock()
		t.err, t.silent = &report.ObjectError{Key: t.Key, Component: t.Component, Verb: verb, Err: err}, time.Time{}
		if unanswered(err) {
			t.silent = r.e.cfg.Clock.Now()
		}
		r.p.mu.Unlock()
		r.e.markDirty(r.p, t)
		return
	}
	var seen *see.Object
	if j.seen != nil {
		seen = r.e.keep(t.Key, j.seen, j.resource)
	}
	did, wrote := r.noted(j)
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	defer r.e.markDirty(r.p, t)
	t.err, t.undone, t.silent = nil, "", time.Time{}
	if j.dropped != nil {
		t.dropped = j.dropped
	}
	switch {
	case j.seen != nil && (seen == nil || seen.ResourceVersion != j.seen.ResourceVersion): // it changed or went since, which the next look decides on
	case j.settled:
		t.decidedLocked(j.verdict, seen, j.actual)
	default:
		after := r.e.decideFromLocked(t, t.desiredLocked(), seen, j.actual)
		if wrote && did.Action != decide.Created && after.Writes() && !after.Migrate {
			t.undone = after.Why
			r.e.conflicts.undone(t.Key, after.Verdict)
			r.e.cfg.Log.Info("An object stays different from its manifest", "object", t.Key.String(), "why", after.Why)
			return
		}
	}
	if wrote && did.Repairs() {
		r.e.conflicts.repaired(t.Key, did)
	}
}

// postpone leaves an object as it is when a write went wrong that nothing waits for. One that was refused is not tried
// again before the object changes.
func (r *run) postpone(j *job, err error) {
	log, refused := r.e.cfg.Log, report.IsRefusal(err)
	if !refused {
		log = log.V(1)
	}
	log.Info("A write that nothing waits for went wrong", "object", j.t.Key.String(), "why", j.verdict.Why, "error", err.Error())
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	defer r.e.markDirty(r.p, j.t)
	j.t.err, j.t.silent = nil, time.Time{}
	if refused {
		j.t.postponed = j.seen.SpecHash
	}
	if unanswered(err) {
		j.t.silent = r.e.cfg.Clock.Now()
	}
}

func (r *run) client(j *job) dynamic.ResourceInterface {
	client := r.e.dynamic.Resource(j.resource.GVR)
	if j.t.Key.Namespace == "" {
		return client
	}
	return client.Namespace(j.t.Key.Namespace)
}

// read gets the object itself, which the watches may not show, or not yet as it is.
func (r *run) read(ctx context.Context, j *job) error {
	seen, err := r.e.cluster.Reader.Read(ctx, j.resource, j.t.Key)
	if err == nil {
		j.see(seen)
	}
	return err
}

// migrate makes an apply of our earlier creation in managedFields: of this very payload, or else of everything that was
// created, so that the apply that follows removes what is not desired any more.
func (r *run) migrate(ctx context.Context, j *job, want decide.Desired) (*see.Object, error) {
	var payload *unstructured.Unstructured
	if j.verdict.Claimed {
		payload = want.Payload
	}
	patch, err := decide.MigrateFields(j.actual, payload, r.e.us)
	return r.patch(ctx, j, patch, err)
}

func (r *run) patch(ctx context.Context, j *job, patch []byte, err error) (*see.Object, error) {
	if err != nil {
		return nil, err
	}
	return r.e.patch(ctx, j.resource, j.t.Key, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: r.e.us.FieldManager}, false)
}

// update applies the object onto the copy that was decided on, and onto no other. Without effect it is always forced,
// because only refusals are of interest then.
func (r *run) update(ctx context.Context, j *job, as effect) (*see.Object, error) {
	force := j.verdict.Force || j.force || as == dryRun
	opts := metav1.PatchOptions{FieldManager: r.e.us.FieldManager, Force: &force}
	if as == dryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	return r.e.patch(ctx, j.resource, j.t.Key, types.ApplyPatchType, j.t.Body(j.stamp, j.seen.ResourceVersion), opts, as == dryRun && !j.foreseen.whole)
}
