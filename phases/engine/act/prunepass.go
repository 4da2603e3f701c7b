package act

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/parallel"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// prunePass is one pass of Teardown.
type prunePass struct {
	e    *Engine
	keep *plan
	once sync.Once // asks the API server once more before a kind counts as not served

	discovered see.Discovered // what it answered
	err        error          // of that

	consents  map[decide.Key]decide.Consent // to lose objects with the data in them, by identity
	losing    func(decide.Key, types.UID)   // is called before one is used, nil for nobody
	stands    func() (bool, error)          // says right before that whether they stand still, nil for nobody
	takenBack atomic.Bool                   // they do not
	onlyLook  bool                          // nothing is deleted

	going map[decide.Key]bool // of a forecast: what would be gone by then, and is nobody's loss, by identity
}

func orphanOf(c inventory.Candidate) report.Orphan {
	return report.Orphan{Key: c.Key, Component: c.Component, Entry: c.Listed}
}

// step removes what may go at the same time.
func (r *prunePass) step(ctx context.Context, entries []inventory.Candidate, done *report.TeardownReport) {
	results := make([]report.Orphan, len(entries))
	parallel.Each(r.e.cfg.Concurrency, entries, func(i int, c inventory.Candidate) { results[i] = r.handle(ctx, c) })
	for _, o := range results {
		if o.Action == decide.Deleted || o.Action == decide.Absent { // nothing of the current revision brings it back
			r.keep.pruneMemory.note(o.Key, o.Action)
		}
		done.Add(o)
	}
}

// handle carries out what is decided about one orphan, as far as possible at present.
func (r *prunePass) handle(ctx context.Context, c inventory.Candidate) report.Orphan {
	o := orphanOf(c)
	gone := r.keep.pruneMemory.forget(o.Key)
	if err := r.remove(ctx, &c, &o); err != nil {
		o.Action, o.Why = decide.Failed, err.Error()
		o.Err = &report.ObjectError{Key: o.Key, Component: o.Component, Verb: "deleting", Err: err}
	}
	if o.Action == decide.Absent && gone != "" {
		o.Action = gone
	}
	if c.Actual != nil {
		o.UID, o.Created = c.Actual.GetUID(), c.Actual.GetCreationTimestamp().UTC()
	}
	o.Consented = r.wentByConsent(o)
	return o
}

// remove deletes one orphan if that is decided. What the watches do not show is read: it may have lost its label.
func (r *prunePass) remove(ctx context.Context, c *inventory.Candidate, o *report.Orphan) error {
	client, served, err := r.client(ctx, o.Key)
	if err != nil {
		return err
	}
	visible := false
	if c.Served = served; served {
		c.Actual, visible = r.e.seen(o.Key)
	}
	told, conflicts := false, 0
	for {
		if c.Served && (c.Actual == nil || !visible) {
			if err := r.read(ctx, client, c); err != nil {
				return err
			}
		}
		decided, err := r.decide(ctx, c)
		if err != nil {
			return err
		}
		if tell(o, c, decided); r.onlyLook && (decided.Action == decide.Deleted || decided.Action == decide.Orphaned) {
			o.Action, o.Why, o.Would = decide.Pending, "it may go now", decided.Action
			return nil
		}
		switch decided.Action {
		case decide.Deleted:
			if !told && r.losing != nil && byConsent(c) {
				r.losing(c.Key, c.Actual.GetUID())
				told, visible = true, false // listed anew, since that took its time
				continue
			}
			if stands, err := r.mayLose(c); err != nil {
				return err
			} else if !stands {
				continue
			}
			err = r.delete(ctx, client, c, o)
		case decide.Orphaned:
			err = r.e.unmark(ctx, client, c.Actual)
		default:
			return nil
		}
		switch {
		case err == nil:
			return nil
		case apierrors.IsNotFound(err):
			o.Action, o.Why = decide.Absent, ""
			return r.checkAnswer(ctx, o.Key, err)
		case !apierrors.IsConflict(err):
			return err
		}
		if conflicts++; conflicts == attempts {
			return err
		}
		told, visible = false, false // the copy is too old: read the object itself
	}
}

// tell has the report tell what is decided about an orphan.
func tell(o *report.Orphan, c *inventory.Candidate, decided decide.PruneVerdict) {
	o.Action, o.Why, o.Void = decided.Action, decided.Why, decided.Void
	if o.Void != "" {
		o.Asked = c.Consent.At
	}
	if o.Action == decide.Terminating {
		o.Finalizers = c.Actual.GetFinalizers()
	}
	if c.Contents != nil {
		o.Count = c.Contents.Count
	}
}

// read gets the object itself.
func (r *prunePass) read(ctx context.Context, client dynamic.ResourceInterface, c *inventory.Candidate) (err error) {
	c.Actual, err = client.Get(ctx, c.Key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c.Actual, c.Served = nil, !see.IsUnserved(err)
		return r.checkAnswer(ctx, c.Key, err)
	}
	return err
}

// decide looks at what may hold data right before it would be deleted, and at nothing else. Where somebody consented to lose
// it, each object that it holds is listed anew.
func (r *prunePass) decide(ctx context.Context, c *inventory.Candidate) (decide.PruneVerdict, error) {
	c.LiveIn, c.Contents = r.live(func(p *plan) bool { return p.keys[c.Key.Identity()] != nil }), nil
	if c.Key.IsNamespace() {
		c.Inhabited = r.live(func(p *plan) bool { return p.inhabits(c.Key.Name) })
	}
	c.LeftAlone, c.Consent = r.e.leftAlone(c), nil
	if consent, is := r.consentTo(c.Key); is {
		c.Consent = &consent
	}
	decided := c.Decide(r.keep.rev.Number, r.e.us)
	going := decided.Action == decide.Terminating && c.Key.IsCRD()
	if !going && (decided.Action != decide.Deleted || !decide.HoldsData(c.Key) && !decide.DeletesClaims(c.Actual)) {
		return decided, nil
	}
	each := !going && c.Consent != nil && c.Consent.UID == c.Actual.GetUID()
	contents, err := r.e.contentsOf(ctx, c.Actual, r.going, each)
	if err != nil && going {
		return decided, nil // it is being deleted already, whatever it holds
	}
	if err != nil {
		return decide.PruneVerdict{}, err
	}
	c.Contents = &contents
	return c.Decide(r.keep.rev.Number, r.e.us), nil
}

// live names a revision that says yes and was handed to the engine while this pass goes on.
func (r *prunePass) live(is func(*plan) bool) string {
	r.e.cluster.Lock()
	defer r.e.cluster.Unlock()
	for _, p := range r.e.plans {
		if p.rev.Number >= r.keep.rev.Number && is(p) {
			return p.rev.Name
		}
	}
	return ""
}

// delete asks for the removal of the very object that was decided on.
func (r *prunePass) delete(ctx context.Context, client dynamic.ResourceInterface, c *inventory.Candidate, o *report.Orphan) error {
	how := propagation(o.Key)
	_, before := r.keep.pruneMemory.of(o.Key)
	lost := loss{}
	if byConsent(c) {
		lost.uid = c.Actual.GetUID()
	}
	r.keep.pruneMemory.lose(o.Key, lost)
	err := client.Delete(ctx, o.Key.Name, metav1.DeleteOptions{
		Preconditions: exactly(c.Actual), PropagationPolicy: &how,
	})
	if err != nil {
		if isRefusal(err) {
			r.keep.pruneMemory.lose(o.Key, before)
		}
		return err
	}
	o.Finalizers = c.Actual.GetFinalizers()
	if len(o.Finalizers) == 0 && goesAtOnce(o.Key) {
		return nil
	}
	o.Action = decide.Terminating
	if len(o.Finalizers) > 0 {
		o.Why += ", finalizers pending: " + shortened(o.Finalizers)
	}
	return nil
}

// exactly allows the deletion of only that copy of an object that was decided on.
func exactly(obj metav1.Object) *metav1.Preconditions {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	return &metav1.Preconditions{UID: &uid, ResourceVersion: &version}
}

// propagation keeps workloads until their pods are gone, so that what the pods use is removed after them.
func propagation(k decide.Key) metav1.DeletionPropagation {
	if decide.ClassOf(k) == decide.ClassWorkloads {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// goesAtOnce is false for kinds that the API server gives finalizers of its own when they are deleted.
func goesAtOnce(k decide.Key) bool {
	return decide.ClassOf(k) != decide.ClassWorkloads && !k.IsCRD() && decide.ClassOf(k) != decide.ClassNamespaces
}

// client is how to reach an orphan, and whether its kind is served at all.
func (r *prunePass) client(ctx context.Context, key decide.Key) (dynamic.ResourceInterface, bool, error) {
	served, found, err := r.resource(ctx, key)
	if err != nil || !found {
		return nil, false, err
	}
	if key.Namespace != "" {
		return r.e.dynamic.Resource(served.GVR).Namespace(key.Namespace), true, nil
	}
	return r.e.dynamic.Resource(served.GVR), true, nil
}

// resource finds out how an orphan's kind is served, in any version. Before it says that the kind is not served at all, it
// asks the API server again, once per pass, and is sure that it announces everything. If that cannot tell, it is an error,
// because an orphan that counts as gone is forgotten.
func (r *prunePass) resource(ctx context.Context, key decide.Key) (see.Resource, bool, error) {
	if found, known := r.known(key); known {
		return found, true, nil
	}
	return r.asked(ctx, key)
}

// asked is what the API server announces of a kind, asked once per pass.
func (r *prunePass) asked(ctx context.Context, key decide.Key) (see.Resource, bool, error) {
	r.once.Do(func() {
		if r.discovered, r.err = r.e.cluster.Reader.DiscoverAll(ctx); r.err == nil {
			r.e.cluster.Lock()
			r.e.kinds = see.Kinds{Discovered: r.discovered, Asked: true}
			r.e.cluster.Unlock()
		}
	})
	if r.err != nil {
		return see.Resource{}, false, r.err
	}
	return r.discovered.Served(key.GVK())
}

// checkAnswer is CheckNotFound, with one question to the API server per pass.
func (r *prunePass) checkAnswer(ctx context.Context, key decide.Key, notFound error) error {
	if !see.IsUnserved(notFound) {
		return nil
	}
	served, found, err := r.asked(ctx, key)
	if err != nil || found && served.Namespaced != (key.Namespace != "") {
		return err // what has a namespace where its kind has none, or none where it has one, is nowhere, and no server answers for it
	}
	return r.discovered.CheckUnserved(key.GVK())
}

// CheckNotFound is an error if nobody answered for an object: its 404 is about the kind, and the API server announces that, or may
// not announce all that it serves. It sends nothing if the 404 is about the object.
func (e *Engine) CheckNotFound(ctx context.Context, kind schema.GroupVersionKind, notFound error) error {
	if !see.IsUnserved(notFound) {
		return nil
	}
	announced, err := e.cluster.Reader.DiscoverAll(ctx)
	if err != nil {
		return err
	}
	return announced.CheckUnserved(kind)
}

func (r *prunePass) known(key decide.Key) (see.Resource, bool) {
	r.e.cluster.Lock()
	defer r.e.cluster.Unlock()
	if served, watched := r.e.watchedAsLocked(key.GVK()); watched {
		return served, true
	}
	return r.e.kinds.Discovered.Of(key.GVK())
}
