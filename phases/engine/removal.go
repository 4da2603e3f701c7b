package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// removal is one pass of Teardown.
type removal struct {
	e    *Engine
	keep *plan
	once sync.Once // asks the API server again before a kind is taken for not served

	announced announcement // what it answered
	err       error        // of that

	consented bool // what holds data goes with it
	onlyLook  bool // nothing is deleted
}

func (c condemned) orphan() Orphan {
	return Orphan{Key: c.key(), Component: c.Component, entry: c.entry}
}

// step removes what may go at the same time.
func (r *removal) step(ctx context.Context, entries []condemned, report *TeardownReport) {
	results := make([]Orphan, len(entries))
	parallel(r.e.cfg.Concurrency, entries, func(i int, c condemned) { results[i] = r.handle(ctx, c) })
	for _, o := range results {
		report.add(o, r.keep)
	}
}

// handle brings one orphan to its fate as far as that goes now.
func (r *removal) handle(ctx context.Context, c condemned) Orphan {
	o := c.orphan()
	if o.Action, o.Consented = r.keep.pruned.of(o.Key); o.Action != "" {
		return o
	}
	if err := r.remove(ctx, &c, &o); err != nil {
		o.Action, o.Why = Failed, err.Error()
		o.Err = &ObjectError{Key: o.Key, Component: o.Component, Verb: "deleting", Err: err}
	}
	_, o.Consented = r.keep.pruned.of(o.Key)
	return o
}

// remove deletes one orphan if that is its fate. What the watches do not show is read: it may have lost its label.
func (r *removal) remove(ctx context.Context, c *condemned, o *Orphan) error {
	client, served, err := r.client(ctx, o.Key)
	if err != nil {
		return err
	}
	visible := false
	if c.served = served; served {
		c.actual, visible = r.e.seen(o.Key)
	}
	for range attempts {
		if served && (c.actual == nil || !visible) {
			if c.actual, err = client.Get(ctx, o.Key.Name, metav1.GetOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			} else if err != nil {
				c.actual = nil
			}
		}
		decided, err := r.decide(ctx, c)
		if err != nil {
			return err
		}
		o.Action, o.Why = decided.action, decided.why
		if o.Action == Terminating {
			o.Finalizers = c.actual.GetFinalizers()
		}
		if c.held != nil {
			o.Count = c.held.count
		}
		switch decided.action {
		case Deleted, Orphaned:
			if r.onlyLook {
				o.Action, o.Why = Pending, "it may go now"
				return nil
			}
		}
		switch decided.action {
		case Deleted:
			err = r.delete(ctx, client, c, o)
		case Orphaned:
			err = r.e.unmark(ctx, client, c.actual)
		default:
			return nil
		}
		switch {
		case err == nil:
			return nil
		case apierrors.IsNotFound(err):
			o.Action, o.Why = Absent, ""
			return nil
		case !apierrors.IsConflict(err):
			return err
		}
		visible = false // the copy is too old: read the object itself
	}
	return err
}

// full takes out the CRDs that go with their instances by consent. They go before everything else: the API server
// deletes the instances, and the controllers that their finalizers wait for have to run until the last one is gone.
func (r *removal) full(ctx context.Context, entries []condemned) (first, rest []condemned) {
	for _, c := range entries {
		if c.key().isCRD() && r.isFull(ctx, c) {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return first, rest
}

func (r *removal) isFull(ctx context.Context, c condemned) bool {
	client, served, err := r.client(ctx, c.key())
	if err != nil || !served {
		return err != nil
	}
	if c.actual, err = client.Get(ctx, c.Name, metav1.GetOptions{}); err != nil {
		return !apierrors.IsNotFound(err)
	}
	c.served = true
	decided, err := r.decide(ctx, &c)
	return err != nil || decided.action == Terminating || c.held != nil && c.held.what != ""
}

// decide looks at what may hold data right before it would be deleted, and at nothing else.
func (r *removal) decide(ctx context.Context, c *condemned) (fate, error) {
	c.wanted, c.held = r.wanted(c.key()), nil
	decided := c.fate(r.keep.rev.Number, r.e.cfg.Owner, r.consented)
	going := decided.action == Terminating && c.key().isCRD()
	if !going && (decided.action != Deleted || !holdsData(c.key())) {
		return decided, nil
	}
	held, err := r.e.holds(ctx, c.actual)
	if err != nil && going {
		return decided, nil // it is on its way whatever it holds
	}
	if err != nil {
		return fate{}, err
	}
	c.held = &held
	return c.fate(r.keep.rev.Number, r.e.cfg.Owner, r.consented), nil
}

// wanted names a revision that has the object and was handed to the engine while this pass goes on.
func (r *removal) wanted(key Key) string {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	for _, p := range r.e.plans {
		if p.rev.Number >= r.keep.rev.Number && p.keys[key.identity()] != nil {
			return p.rev.Name
		}
	}
	return ""
}

// delete asks for the removal of the very object that was decided on.
func (r *removal) delete(ctx context.Context, client dynamic.ResourceInterface, c *condemned, o *Orphan) error {
	how := propagation(o.Key)
	err := client.Delete(ctx, o.Key.Name, metav1.DeleteOptions{
		Preconditions: exactly(c.actual), PropagationPolicy: &how,
	})
	if err != nil {
		return err
	}
	if c.held != nil && c.held.what != "" {
		r.keep.pruned.note(o.Key, "", true)
	}
	o.Finalizers = c.actual.GetFinalizers()
	if len(o.Finalizers) == 0 && goesAtOnce(o.Key) {
		return nil
	}
	o.Action = Terminating
	if len(o.Finalizers) > 0 {
		o.Why += ", finalizers pending: " + strings.Join(o.Finalizers, ", ")
	}
	return nil
}

// exactly lets only the very copy of an object be deleted that was decided on.
func exactly(obj metav1.Object) *metav1.Preconditions {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	return &metav1.Preconditions{UID: &uid, ResourceVersion: &version}
}

// propagation keeps workloads in sight until their pods are gone, so that what the pods use is removed after them.
func propagation(k Key) metav1.DeletionPropagation {
	if classOf(k) == workloads {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// goesAtOnce is false for kinds that the API server gives finalizers of its own when they are deleted.
func goesAtOnce(k Key) bool {
	return classOf(k) != workloads && !k.isCRD() && classOf(k) != namespaces
}

// client is how to reach an orphan, and whether its kind is served at all.
func (r *removal) client(ctx context.Context, key Key) (dynamic.ResourceInterface, bool, error) {
	served, found, err := r.resource(ctx, key)
	if err != nil || !found {
		return nil, false, err
	}
	if key.Namespace != "" {
		return r.e.dynamic.Resource(served.gvr).Namespace(key.Namespace), true, nil
	}
	return r.e.dynamic.Resource(served.gvr), true, nil
}

// resource finds how an orphan's kind is served, in any version. Before it says that it is not served at all, the API
// server is asked again, once per pass; one that cannot tell is an error, because what is taken for gone is forgotten.
func (r *removal) resource(ctx context.Context, key Key) (resource, bool, error) {
	if found, known := r.known(key); known {
		return found, true, nil
	}
	r.once.Do(func() {
		if r.announced, r.err = r.e.announced(ctx); r.err == nil {
			r.e.mu.Lock()
			r.e.kinds = kinds{announced: r.announced, asked: true}
			r.e.mu.Unlock()
		}
	})
	found, served := r.announced.of(key.GVK())
	if !served && r.err == nil && r.announced.silent[key.Group] {
		return resource{}, false, fmt.Errorf("finding out whether %s is served: API group %s does not answer; repair the APIService of that group", key.Kind, key.Group)
	}
	return found, served, r.err
}

func (r *removal) known(key Key) (resource, bool) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if w := r.e.watches[key.GVK()]; w != nil && !w.gone {
		return w.resource, true
	}
	return r.e.kinds.announced.of(key.GVK())
}
