package engine

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

const (
	// attempts bounds how often one object is read and decided on again in one pass.
	attempts = 4
	// writeTimeout bounds one request: above the 30 s that a webhook may take at most.
	writeTimeout = 40 * time.Second
)

// attempt brings one object to what is wanted, or only tries to. What it finds out on the way (an object that the
// watches could not see, a newer copy) stays in the job.
func (r *run) attempt(ctx context.Context, j *job, dry bool) error {
	ctx, cancel := context.WithTimeout(ctx, attempts*writeTimeout)
	defer cancel()
	if (j.resource.namespaced) != (j.t.key.Namespace != "") {
		return &ScopeError{Namespaced: j.resource.namespaced}
	}
	if j.ask {
		if err := r.read(ctx, j); err != nil {
			return err
		}
	}
	var err error
	for range attempts {
		j.verdict = decide(j.t, j.actual, r.p.rev.Number, r.e.cfg.Owner)
		if !j.verdict.writes() {
			return nil
		}
		var result *unstructured.Unstructured
		switch {
		case j.verdict.action == Created:
			result, err = r.create(ctx, j, dry)
		case j.verdict.fold && !dry:
			if result, err = r.fold(ctx, j); err == nil {
				r.note(j)
				j.actual = result
				continue
			}
		default:
			result, err = r.update(ctx, j, dry)
		}
		if err == nil {
			if !dry {
				r.note(j)
				j.actual = result
			}
			return nil
		}
		j.force = j.force || apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
		lost := j.verdict.action != Created && apierrors.IsNotFound(err)
		if !lost && !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
			return err
		}
		if failed := r.read(ctx, j); failed != nil {
			return failed
		}
	}
	return err
}

// note remembers the first thing that was done with an object in this pass, and that it was read or written.
func (r *run) note(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, noted := r.wrote[j.t.key]; !noted {
		r.wrote[j.t.key] = j.verdict
	}
}

// settle remembers what came of a job.
func (r *run) settle(j *job, err error) {
	t := j.t
	if err != nil {
		if asked := holdOff(err); asked > 0 {
			r.mu.Lock()
			r.wait = max(r.wait, asked)
			r.mu.Unlock()
		}
		verb := "updating"
		if j.verdict.action == Created {
			verb = "creating"
		}
		r.p.mu.Lock()
		t.err = &ObjectError{Key: t.key, Component: t.component, Verb: verb, Err: err}
		r.p.mu.Unlock()
		return
	}
	if j.actual != nil {
		r.e.keep(j.actual)
	}
	after := decide(t, j.actual, r.p.rev.Number, r.e.cfg.Owner)
	r.mu.Lock()
	did, wrote := r.wrote[t.key]
	r.mu.Unlock()
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	t.err, t.obstacle = nil, nil
	if visible := j.actual != nil && j.actual.GetLabels()[ManagedByLabel] != ""; !visible && !after.writes() {
		t.obstacle = &after
	}
	if wrote && did.action != Created && after.writes() && !after.fold {
		t.settled, t.verdict = after.why, nil
		r.e.cfg.Log.Info("An object stays different from its manifest", "object", t.key.String(), "why", after.why)
	}
}

func (r *run) client(j *job) dynamic.ResourceInterface {
	client := r.e.dynamic.Resource(j.resource.gvr)
	if j.t.key.Namespace == "" {
		return client
	}
	return client.Namespace(j.t.key.Namespace)
}

// read gets the object itself, which the watches may not show.
func (r *run) read(ctx context.Context, j *job) error {
	obj, err := r.client(j).Get(ctx, j.t.key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		obj, err = nil, nil
	}
	j.actual = obj
	return err
}

// create posts the object: unlike a server-side apply, a POST can never change an object that was not seen. The create
// is then recorded as an apply; if that does not work, the next pass does it.
func (r *run) create(ctx context.Context, j *job, dry bool) (*unstructured.Unstructured, error) {
	opts := metav1.CreateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict}
	if dry {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	created, err := r.client(j).Create(ctx, j.t.payload, opts)
	if err != nil || dry {
		return created, err
	}
	folded, err := r.patch(ctx, j, created, j.t.payload)
	if err != nil {
		r.e.cfg.Log.V(1).Info("A creation is not yet recorded as applied", "object", j.t.key.String(), "error", err.Error())
		return created, nil
	}
	return folded, nil
}

// fold records our earlier creation as an apply.
func (r *run) fold(ctx context.Context, j *job) (*unstructured.Unstructured, error) {
	if j.verdict.carries { // created from this very payload
		return r.patch(ctx, j, j.actual, j.t.payload)
	}
	return r.patch(ctx, j, j.actual, nil)
}

func (r *run) patch(ctx context.Context, j *job, obj, payload *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	patch, err := fold(obj, payload)
	if err != nil || patch == nil {
		return obj, err
	}
	return r.client(j).Patch(ctx, j.t.key.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
}

// update applies the object onto the copy that was decided on, and onto no other. Without effect it is always forced,
// because only refusals are of interest then.
func (r *run) update(ctx context.Context, j *job, dry bool) (*unstructured.Unstructured, error) {
	body := shallow(j.t.payload.Object)
	meta := shallow(body["metadata"])
	meta["resourceVersion"] = j.actual.GetResourceVersion()
	body["metadata"] = meta
	opts := metav1.ApplyOptions{FieldManager: FieldManager, Force: j.verdict.force || j.force || dry}
	if dry {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	return r.client(j).Apply(ctx, j.t.key.Name, &unstructured.Unstructured{Object: body}, opts)
}
