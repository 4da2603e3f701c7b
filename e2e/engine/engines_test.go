package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine"
)

// retryAfter is how soon a pass that met an error or a collision, or waits for deletions, is made again without a notification.
// The operator takes longer; everything else has to come by notification.
const retryAfter = 200 * time.Millisecond

// What the engines of the suite are known by.
const (
	fieldManager    = "capstan"
	inventoryPrefix = "capstan-inventory-"
)

// running is an engine under test.
type running struct {
	*engine.Engine
	world *world
	agent string // by which the audit log knows it
	stop  func() // ends it; a second call does nothing

	first bool // nothing was ever installed: every pass is one of a first installation

	mu      sync.Mutex
	next    chan struct{}      // closed by the next notification
	watched []*engine.Revision // what the engine was told to watch
}

// Watch replaces the revisions that the engine watches.
func (r *running) Watch(revs ...*engine.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = revs
	r.Engine.Watch(revs...)
}

// add lets the engine watch one more revision, so that a spec need not name those that it is about beforehand.
func (r *running) add(rev *engine.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.watched, rev) {
		r.watched = append(slices.Clone(r.watched), rev)
		r.Engine.Watch(r.watched...)
	}
}

// Reconcile makes a pass over a revision, which is watched from then on.
func (r *running) Reconcile(ctx context.Context, rev *engine.Revision, opts ...engine.ReconcileOption) (*engine.Report, error) {
	r.add(rev)
	if r.first {
		opts = append(opts, engine.FirstInstall())
	}
	return r.Engine.Reconcile(ctx, rev, opts...)
}

// Teardown removes what only older revisions than this one have, which is watched from then on.
func (r *running) Teardown(ctx context.Context, rev *engine.Revision, opts ...engine.TeardownOption) (*engine.TeardownReport, error) {
	r.add(rev)
	return r.Engine.Teardown(ctx, rev, opts...)
}

// Look looks at a revision, which is watched from then on.
func (r *running) Look(rev *engine.Revision) *engine.Report {
	r.add(rev)
	return r.Engine.Look(rev)
}

// Orphans looks at what older revisions than this one have left, which is watched from then on.
func (r *running) Orphans(rev *engine.Revision) engine.Orphans {
	r.add(rev)
	return r.Engine.Orphans(rev)
}

// start makes an engine of the world's and runs it until the spec ends or stop is called. Changes of its configuration
// come last.
func (w *world) start(changes ...func(*engine.Config)) *running {
	GinkgoHelper()
	r, err := w.launch(changes...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(r.stop)
	return r
}

// launch is start for whoever is not a spec.
func (w *world) launch(changes ...func(*engine.Config)) (*running, error) {
	r := &running{world: w, agent: fmt.Sprintf("engine-%s%d", w.prefix, w.engines.Add(1)), next: make(chan struct{})}
	cfg := engine.Config{REST: rest.CopyConfig(w.config), Namespace: w.namespace, Owner: w.owner, FieldManager: fieldManager, InventoryPrefix: inventoryPrefix, Notify: r.notify}
	cfg.REST.UserAgent = r.agent
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	if r.Engine, err = engine.New(cfg); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.Run(ctx) // it never fails
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	return r, nil
}

func (r *running) notify() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.next)
	r.next = make(chan struct{})
}

// change is closed by the next notification.
func (r *running) change() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// drive makes passes until one is done, as the operator would: the first at once, then one at every notification, and
// after those that say so also when the retry is due. What is not done comes back when the patience is over.
func (r *running) drive(ctx context.Context, what string, pass func(context.Context) (again bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		changed := r.change()
		again, err := pass(ctx)
		if err == nil {
			return nil
		}
		var due <-chan time.Time
		if again {
			due = time.After(retryAfter)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; in the end %w", what, ctx.Err(), err)
		case <-changed:
		case <-due:
		}
	}
}

// take applies a revision until a question about its report is answered with nil.
func (r *running) take(ctx context.Context, rev *engine.Revision, question func(*engine.Report) error) (*engine.Report, error) {
	var report *engine.Report
	err := r.drive(ctx, "revision "+rev.Name, func(ctx context.Context) (bool, error) {
		var failed error
		report, failed = r.Reconcile(ctx, rev)
		again := failed != nil || len(report.Collisions()) > 0
		return again, question(report)
	})
	return report, err
}

// complete is the question whether a revision is complete.
func complete(report *engine.Report) error {
	if report.Complete() {
		return nil
	}
	return errors.New(report.String())
}

// until applies a revision until a question about its report is answered with nil, and returns that report.
func (r *running) until(ctx context.Context, rev *engine.Revision, question func(*engine.Report) error) *engine.Report {
	GinkgoHelper()
	report, err := r.take(ctx, rev, question)
	Expect(err).NotTo(HaveOccurred())
	return report
}

// converge applies a revision until it is complete.
func (r *running) converge(ctx context.Context, rev *engine.Revision) *engine.Report {
	GinkgoHelper()
	return r.until(ctx, rev, complete)
}

// maintain keeps an older revision until a question about its report is answered with nil, and returns that report.
func (r *running) maintain(ctx context.Context, rev *engine.Revision, question func(*engine.Report) error) *engine.Report {
	GinkgoHelper()
	var report *engine.Report
	Expect(r.drive(ctx, "revision "+rev.Name+" to be kept", func(ctx context.Context) (bool, error) {
		var failed error
		report, failed = r.Reconcile(ctx, rev, engine.Keep())
		return failed != nil, question(report)
	})).To(Succeed())
	return report
}

// apply makes one pass once everything is seen, and returns what it did; the pass itself may fail.
func (r *running) apply(ctx context.Context, rev *engine.Revision) (*engine.Report, error) {
	GinkgoHelper()
	r.see(ctx, rev)
	return r.Reconcile(ctx, rev)
}

// see waits until nothing about a revision is unknown any more, and says where it stands. Nothing is written.
func (r *running) see(ctx context.Context, rev *engine.Revision) *engine.Report {
	GinkgoHelper()
	var report *engine.Report
	Expect(r.drive(ctx, "seeing revision "+rev.Name, func(context.Context) (bool, error) {
		if report = r.Look(rev); report.Unknown() {
			return false, errors.New(report.Blocked())
		}
		return false, nil
	})).To(Succeed())
	return report
}

// prune removes what older revisions had, until nothing is left to do but what is retained.
func (r *running) prune(ctx context.Context, keep *engine.Revision, consented map[engine.Key]engine.Consent) *engine.TeardownReport {
	GinkgoHelper()
	var report *engine.TeardownReport
	Expect(r.drive(ctx, "pruning for revision "+keep.Name, func(ctx context.Context) (bool, error) {
		var failed error
		if report, failed = r.Teardown(ctx, keep, engine.Consented(consented)); report.Complete() {
			return false, nil
		}
		return failed != nil, errors.New(report.Blocked())
	})).To(Succeed())
	return report
}

// install takes a revision to its end: complete, everything older removed and forgotten.
func (r *running) install(ctx context.Context, rev *engine.Revision) *engine.TeardownReport {
	GinkgoHelper()
	report, err := r.finish(ctx, rev)
	Expect(err).NotTo(HaveOccurred())
	return report
}

// finish is install for whoever is not a spec. Every pass begins anew, because what is applied may drift meanwhile.
func (r *running) finish(ctx context.Context, rev *engine.Revision) (*engine.TeardownReport, error) {
	var pruned *engine.TeardownReport
	err := r.drive(ctx, "revision "+rev.Name+" to be installed", func(ctx context.Context) (bool, error) {
		report, failed := r.Reconcile(ctx, rev)
		if err := complete(report); err != nil {
			return failed != nil || len(report.Collisions()) > 0, err
		}
		if pruned, failed = r.Teardown(ctx, rev); !pruned.Complete() {
			return failed != nil || len(pruned.Waiting) > 0, errors.New(pruned.Blocked()) // no watch shows what has lost its label
		}
		failed = r.Forget(ctx, rev, pruned)
		return failed != nil, failed
	})
	return pruned, err
}
