package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Prune deletes what older revisions applied and keep has not, in the reverse of the order of installation: the next
// step begins when the former is gone. It works from the inventories, and reads what the watches do not show itself,
// because an object that lost its label is still to be deleted. It refuses to start before keep is applied as a whole. What holds users'
// data is retained, which is no error, unless consent is the content ID of keep: then it goes with its data. Consent for
// any other content counts for nothing. Every pass looks at all orphans again, except those that it saw go.
func (e *Engine) Prune(ctx context.Context, keep *Revision, consent string) (*PruneReport, error) {
	p := e.plan(keep)
	p.pass.Lock()
	defer p.pass.Unlock()
	report := &PruneReport{}
	if look := e.lookPlan(p); !look.Applied() {
		report.wait = "pruning waits for revision " + keep.Name + " to be applied: " + look.Blocked()
		return report, nil
	}
	e.mu.Lock()
	entries, err := e.orphans(p)
	e.mu.Unlock()
	if err != nil {
		report.wait = "pruning waits for its inventories: " + err.Error()
		return report, err
	}
	pass := &removal{e: e, keep: p, consented: consent != "" && consent == keep.ContentID}
	for len(entries) > 0 {
		size := slices.IndexFunc(entries, func(x entry) bool { return !x.sameStep(entries[0]) })
		if size < 0 {
			size = len(entries)
		}
		step := pass.step(ctx, entries[:size])
		entries = entries[size:]
		pass.sort(report, step)
		if len(report.Waiting) > 0 {
			break
		}
	}
	for _, later := range entries {
		report.Waiting = append(report.Waiting, Orphan{Key: later.key(), Component: later.Component, entry: later, Why: "its turn comes after the others"})
	}
	return report, report.Err()
}

// Forget ends a finished Prune: what was retained is booked on the kept revision, so that it is deleted when it holds
// nothing any more, and then the older inventories go. It writes nothing when there is nothing to forget.
func (e *Engine) Forget(ctx context.Context, keep *Revision, done *PruneReport) error {
	if !done.Complete() {
		return fmt.Errorf("forgetting revisions older than %s: %s", keep.Name, done.Blocked())
	}
	p := e.plan(keep)
	p.pass.Lock()
	defer p.pass.Unlock()
	if !e.Orphans(keep).Seen {
		return fmt.Errorf("forgetting revisions older than %s: the inventories are not seen yet", keep.Name)
	}
	inv := inventoryOf(p)
	for _, o := range done.Retained {
		o.entry.Retained = true
		inv.Entries = append(inv.Entries, o.entry)
	}
	s, found := e.storedOf(keep.Number)
	if found {
		if err := sameContent(s, keep); err != nil {
			return err
		}
	}
	if !found || s.inventory == nil || !slices.Equal(s.inventory.retained(), inv.retained()) {
		if err := e.store(ctx, inv); err != nil {
			return err
		}
	}
	e.mu.Lock()
	older := slices.DeleteFunc(e.storedLocked(), func(s storedInventory) bool { return s.number >= keep.Number })
	e.mu.Unlock()
	for _, s := range older {
		if err := e.discard(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// removal is one pass of Prune.
type removal struct {
	e    *Engine
	keep *plan
	once sync.Once // asks the API server again before a kind is taken for not served
	err  error     // of that

	consented bool // what holds data goes with it
}

type outcome int

const (
	waiting outcome = iota
	gone
	retained
	left
)

type removed struct {
	orphan  Orphan
	outcome outcome
}

// step removes entries that may go at the same time.
func (r *removal) step(ctx context.Context, entries []entry) []removed {
	results := make([]removed, len(entries))
	slots := make(chan struct{}, r.e.cfg.Concurrency)
	var all sync.WaitGroup
	for i, entry := range entries {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			o := Orphan{Key: entry.key(), Component: entry.Component, entry: entry}
			what, err := r.remove(ctx, &o)
			if err != nil {
				what, o.Why = waiting, err.Error()
				o.err = &ObjectError{Key: o.Key, Component: o.Component, Verb: "deleting", Err: err}
			}
			results[i] = removed{o, what}
		})
	}
	all.Wait()
	return results
}

func (r *removal) sort(report *PruneReport, results []removed) {
	for _, result := range results {
		switch result.outcome {
		case gone:
			r.keep.mu.Lock()
			r.keep.gone[result.orphan.Key.identity()] = true
			r.keep.mu.Unlock()
			report.Gone = append(report.Gone, result.orphan)
		case retained:
			report.Retained = append(report.Retained, result.orphan)
		case left:
			report.Left = append(report.Left, result.orphan)
		default:
			report.Waiting = append(report.Waiting, result.orphan)
			report.RetryAfter = max(report.RetryAfter, r.e.hold.remaining())
		}
	}
}

// remove deletes one orphan if it is still this installation's and holds no data.
func (r *removal) remove(ctx context.Context, o *Orphan) (outcome, error) {
	r.keep.mu.Lock()
	known := r.keep.gone[o.Key.identity()]
	r.keep.mu.Unlock()
	if known {
		return gone, nil
	}
	served, found, err := r.resource(ctx, o.Key)
	if err != nil || !found {
		return gone, err
	}
	var client dynamic.ResourceInterface = r.e.dynamic.Resource(served.gvr)
	if o.Key.Namespace != "" {
		client = r.e.dynamic.Resource(served.gvr).Namespace(o.Key.Namespace)
	}
	actual, visible := r.e.seen(o.Key)
	for range attempts {
		if actual == nil || !visible {
			if actual, err = client.Get(ctx, o.Key.Name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
				return gone, nil
			} else if err != nil {
				return waiting, err
			}
		}
		if actual.GetDeletionTimestamp() != nil {
			o.Why, o.Finalizers = terminatingWhy(actual), actual.GetFinalizers()
			return waiting, nil
		}
		if why := r.notOurs(actual); why != "" {
			o.Why = why
			return left, nil
		}
		switch held, err := r.holds(ctx, actual, o); {
		case err != nil:
			return waiting, err
		case held && !r.consented:
			return retained, nil
		case held:
			o.Consented = true
		}
		uid, version, how := actual.GetUID(), actual.GetResourceVersion(), propagation(o.Key)
		err = client.Delete(ctx, o.Key.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}, PropagationPolicy: &how,
		})
		switch {
		case err == nil && len(actual.GetFinalizers()) == 0 && goesAtOnce(o.Key):
			return gone, nil
		case err == nil:
			o.Why, o.Finalizers = "is being deleted", actual.GetFinalizers()
			if len(o.Finalizers) > 0 {
				o.Why += ", finalizers pending: " + strings.Join(o.Finalizers, ", ")
			}
			return waiting, nil
		case apierrors.IsNotFound(err):
			return gone, nil
		case !apierrors.IsConflict(err):
			return waiting, err
		}
		visible = false // the copy is too old: read the object itself
	}
	return waiting, err
}

// notOurs says why an object must be left alone: nobody may lose an object that was taken over or given away.
func (r *removal) notOurs(actual *unstructured.Unstructured) string {
	c := claimOf(actual, r.e.cfg.Owner)
	switch {
	case c.holder != "":
		return "belongs to " + c.holder
	case c.number == 0:
		return "carries no revision number any more"
	case c.number > r.keep.rev.Number:
		return fmt.Sprintf("belongs to revision %d", c.number)
	}
	return ""
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

// resource finds how an orphan's kind is served, in any version. Before it says that it is not served at all, the API
// server is asked again, once per pass.
func (r *removal) resource(ctx context.Context, key Key) (resource, bool, error) {
	if found, known := r.known(key); known {
		return found, true, nil
	}
	r.once.Do(func() {
		announced, err := r.e.announced(ctx)
		r.err = err
		if err == nil {
			r.e.mu.Lock()
			r.e.kinds = kinds{announced: announced, asked: true}
			r.e.mu.Unlock()
		}
	})
	found, known := r.known(key)
	return found, known, r.err
}

func (r *removal) known(key Key) (resource, bool) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if w := r.e.watches[key.GVK()]; w != nil && !w.gone {
		return w.resource, true
	}
	if found, served := r.e.kinds.announced[key.GVK()]; served {
		return found, true
	}
	for gvk, found := range r.e.kinds.announced {
		if gvk.GroupKind() == key.GVK().GroupKind() {
			return found, true
		}
	}
	return resource{}, false
}
