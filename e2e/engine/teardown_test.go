package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

const finalizer = "test.capstan.io/hold"

var _ = Describe("An object that only an older revision has", func() {
	It("case 31: is deleted as the very object that was decided on, waited for, and gone in a later pass", func(ctx SpecContext) {
		w := begin(ctx)
		wire := &wire{}
		e := w.start(wire.tap)
		rev := e.upgrade(ctx, w, w.deployment("old"))
		found := w.fetch(ctx, w.deployment("old"))
		report := e.pruning(ctx, rev, nil)
		Expect(report.Waiting).To(HaveLen(1))
		Expect(report.Waiting[0].Action).To(Equal(engine.Terminating))
		Expect(wire.deletions()).To(ConsistOf(And(
			ContainSubstring(`"uid":"`+string(found.GetUID())+`"`), ContainSubstring(`"resourceVersion":"`), ContainSubstring("Foreground"),
		)))
		report = e.prune(ctx, rev, nil)
		Expect(report.Gone).To(HaveLen(1))
		Expect(w.isGone(ctx, found)).To(Succeed())
	})

	It("case 32: is left alone when it carries a higher number", func(ctx SpecContext) {
		w := begin(ctx)
		w.leaves(ctx, engine.HandedOver, "revision 9", `{"metadata":{"annotations":{"`+engine.RevisionAnnotation+`":"9"}}}`)
	})

	It("case 33: is left alone when it carries no number, which is reported", func(ctx SpecContext) {
		w := begin(ctx)
		w.leaves(ctx, engine.Foreign, "no revision number", `{"metadata":{"annotations":{"`+engine.RevisionAnnotation+`":null}}}`)
	})

	It("case 34: is asked to go once, and its finalizer is named until it does", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		old := w.configMap("old")
		rev := e.upgrade(ctx, w, old)
		w.merge(ctx, "other", old, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
		since := mark(ctx)
		for range 3 {
			report := e.pruning(ctx, rev, nil)
			Expect(report.Blocked()).To(ContainSubstring(finalizer))
			Expect(report.Waiting[0].Finalizers).To(ConsistOf(finalizer))
		}
		Expect(about(old, successful(w.writes(ctx, since)))).To(HaveLen(1))
		w.merge(ctx, "other", old, `{"metadata":{"finalizers":null}}`)
		Expect(e.prune(ctx, rev, nil).Gone).To(HaveLen(1))
	})

	It("case 35: is decided on again when it changes between the look and the deletion", func(ctx SpecContext) {
		w := begin(ctx)
		wire, old := &wire{}, w.configMap("old", "key", "value")
		e := w.start(wire.tap)
		rev := e.upgrade(ctx, w, old)
		wire.before(func() { w.merge(ctx, "other", old, `{"data":{"key":"theirs"}}`) })
		report, err := e.Teardown(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Gone).To(HaveLen(1))
		Expect(wire.deletions()).To(HaveLen(2))
		Expect(w.isGone(ctx, old)).To(Succeed())
	})

	It("case 35: is left alone when it is given away between the look and the deletion", func(ctx SpecContext) {
		w := begin(ctx)
		wire, old := &wire{}, w.configMap("old")
		e := w.start(wire.tap)
		rev := e.upgrade(ctx, w, old)
		wire.before(func() {
			w.merge(ctx, "other", old, `{"metadata":{"annotations":{"`+engine.OwnerAnnotation+`":"somebody"}}}`)
		})
		report, err := e.Teardown(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Left).To(HaveLen(1))
		Expect(report.Left[0].Why).To(ContainSubstring("somebody"))
		Expect(w.uid(ctx, old)).NotTo(BeEmpty())
	})

	It("case 36: is found although its label was taken off, and deleted because it is ours", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		old := w.configMap("old")
		rev := e.upgrade(ctx, w, old)
		w.merge(ctx, "other", old, `{"metadata":{"labels":{"`+engine.ManagedByLabel+`":null}}}`)
		Expect(e.prune(ctx, rev, nil).Gone).To(HaveLen(1))
		Expect(w.isGone(ctx, old)).To(Succeed())
	})

	It("case 37: is left to a controller that took it, its references as they are, without a write", func(ctx SpecContext) {
		w := begin(ctx)
		owner := w.create(ctx, w.configMap("owner"))
		e := w.start()
		old := w.configMap("old")
		rev := e.upgrade(ctx, w, old)
		w.merge(ctx, "other", old, fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q,"controller":true}]}}`, owner.GetUID()))
		before, since := w.fetch(ctx, old), mark(ctx)
		report := e.prune(ctx, rev, nil)
		Expect(report.Left).To(HaveLen(1))
		Expect(report.Left[0].Why).To(ContainSubstring("ConfigMap owner"))
		Expect(w.fetch(ctx, old)).To(Equal(before))
		Expect(about(old, w.writes(ctx, since))).To(BeEmpty())
	})

	It("case 38: loses our marks when administrators manage it from now on, and is not adopted again", func(ctx SpecContext) {
		w := begin(ctx)
		free, absent := w.crd("free"), w.crd("absent")
		e := w.start()
		e.install(ctx, of(1, free, absent, w.configMap("a")))
		before := w.fetch(ctx, free)
		w.delete(ctx, absent)
		eventually(ctx, "the other definition to go", func(ctx context.Context) error { return w.isGone(ctx, absent) })
		rev := of(2, free, absent, w.configMap("a"))
		rev.Unmanaged = []string{free.GetName(), absent.GetName()}
		report := e.install(ctx, rev)
		Expect(report.Left).To(HaveLen(1))
		Expect(report.Left[0].Action).To(Equal(engine.Orphaned))
		Expect(report.Gone).To(HaveLen(1))
		found := w.fetch(ctx, free)
		Expect(found.GetUID()).To(Equal(before.GetUID()))
		Expect(field(found, "spec")).To(Equal(field(before, "spec")))
		Expect(found.GetLabels()).NotTo(HaveKey(engine.ManagedByLabel))
		Expect(found.GetAnnotations()).NotTo(Or(HaveKey(engine.RevisionAnnotation), HaveKey(engine.OwnerAnnotation)))
		Expect(entries(found)).NotTo(ContainElement(HavePrefix("capstan")))

		since := mark(ctx)
		next := of(3, free, absent, w.configMap("a", "key", "value"))
		next.Unmanaged = rev.Unmanaged
		e.install(ctx, next)
		Expect(about(free, w.writes(ctx, since))).To(BeEmpty())
		Expect(w.fetch(ctx, free)).To(Equal(found))
	})

	It("case 39: is retained as long as it is a definition with instances", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		held, mine := w.crd("held"), w.instance("held", "mine")
		e.install(ctx, of(1, held, w.configMap("a")))
		w.create(ctx, mine)
		before := w.uids(ctx, held, mine)
		rev := of(2, w.configMap("a"))
		report := e.install(ctx, rev)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Count).To(BeEquivalentTo(1))
		Expect(w.uids(ctx, held, mine)).To(Equal(before))
		Expect(e.Orphans(rev).Retained).To(ConsistOf(engine.KeyOf(held)))

		w.delete(ctx, mine)
		eventually(ctx, "the instance to go", func(ctx context.Context) error { return w.isGone(ctx, mine) })
		report = e.prune(ctx, rev, nil)
		Expect(report.Gone).To(HaveLen(1))
		Expect(e.Forget(ctx, rev, report)).To(Succeed())
		Expect(e.Orphans(rev).Retained).To(BeEmpty())
		Expect(w.isGone(ctx, held)).To(Succeed())
	})

	It("case 40: is gone when nobody serves its kind any more", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget"), w.instance("gadget", "mine"), w.configMap("a")))
		w.delete(ctx, w.crd("gadget"))
		eventually(ctx, "the definition to go", func(ctx context.Context) error { return w.isGone(ctx, w.crd("gadget")) })
		report := e.install(ctx, of(2, w.configMap("a")))
		Expect(report.Gone).To(HaveLen(2))
	})

	It("case 41: is there as long as a pod may use it", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.deployment("old"), w.service("old"), w.serviceAccount("old"), w.clusterRole("old"))
		var pod *unstructured.Unstructured
		for name := range w.settled(ctx, "old") {
			pod = w.object(`{apiVersion: v1, kind: Pod, metadata: {namespace: $NS, name: ` + name + `}}`)
		}
		w.merge(ctx, "other", pod, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
		since := mark(ctx)
		for range 3 {
			report := e.pruning(ctx, rev, nil)
			Expect(report.Blocked()).To(ContainSubstring("Deployment"))
			Expect(report.Waiting).To(HaveLen(4))
		}
		Expect(deletions(successful(w.writes(ctx, since)))).To(ConsistOf("deployments old"))
		w.merge(ctx, "other", pod, `{"metadata":{"finalizers":null}}`)
		Expect(e.prune(ctx, rev, nil).Gone).To(HaveLen(4))
		Expect(deletions(successful(w.writes(ctx, since)))).To(HaveExactElements("deployments old", "services old",
			BeElementOf("serviceaccounts old", "clusterroles "+w.name("old")), BeElementOf("serviceaccounts old", "clusterroles "+w.name("old"))))
	})
})

var _ = Describe("An object of the same name as an old one", func() {
	It("is left alone when it is another one and does not carry our identity", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		old := w.configMap("old")
		e.install(ctx, of(1, old, w.configMap("a")))
		e.install(ctx, of(2, old, w.configMap("a"))) // whose inventory knows the UIDs
		w.delete(ctx, old)
		theirs := w.create(ctx, annotated(old, engine.RevisionAnnotation, "1"))
		report := e.install(ctx, of(3, w.configMap("a")))
		Expect(report.Left).To(HaveLen(1))
		Expect(report.Left[0].Why).To(ContainSubstring("another object"))
		Expect(w.uid(ctx, old)).To(Equal(theirs.GetUID()))
	})
})

// upgrade installs a revision with these objects and applies one without them, which is to be pruned.
func (r *running) upgrade(ctx context.Context, w *world, old ...*unstructured.Unstructured) *engine.Revision {
	GinkgoHelper()
	r.install(ctx, of(1, append(old, w.configMap("stays"))...))
	rev := of(2, w.configMap("stays"))
	r.converge(ctx, rev)
	return rev
}

// pruning is one pass of a prune that has to wait.
func (r *running) pruning(ctx context.Context, rev *engine.Revision, consented map[engine.Key]engine.Consent) *engine.TeardownReport {
	GinkgoHelper()
	report, err := r.Teardown(ctx, rev, engine.Consented(consented))
	Expect(err).NotTo(HaveOccurred())
	Expect(report.Complete()).To(BeFalse())
	Expect(report.Waiting).NotTo(BeEmpty(), report.Blocked())
	return report
}

// leaves says that an old object that somebody changed is reported and not written to.
func (w *world) leaves(ctx context.Context, action engine.Action, why, patch string) {
	GinkgoHelper()
	e := w.start()
	old := w.configMap("old")
	rev := e.upgrade(ctx, w, old)
	before, since := w.merge(ctx, "other", old, patch), mark(ctx)
	report := e.prune(ctx, rev, nil)
	Expect(report.Left).To(HaveLen(1))
	Expect(report.Left[0].Action).To(Equal(action))
	Expect(report.Left[0].Why).To(ContainSubstring(why))
	Expect(w.fetch(ctx, old).GetResourceVersion()).To(Equal(before.GetResourceVersion()))
	// One that was sent for what the object was before is refused, and decided on again.
	Expect(about(old, successful(w.writes(ctx, since)))).To(BeEmpty())
}

// deletions are what was deleted, in order, as "configmaps a".
func deletions(all cluster.RequestList) []string {
	var names []string
	for _, r := range all.Where(isDelete) {
		names = append(names, r.Resource+" "+r.Name)
	}
	return names
}

// wire sees the deletions that an engine sends, which the audit log does not show as a whole.
type wire struct {
	mu   sync.Mutex
	sent []string
	do   func() // before the next one
}

// tap changes the configuration of an engine so that the wire sees what it sends.
func (w *wire) tap(cfg *engine.Config) {
	cfg.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return sender(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodDelete {
				return next.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			w.mu.Lock()
			w.sent = append(w.sent, string(body))
			do := w.do
			w.do = nil
			w.mu.Unlock()
			if do != nil {
				do()
			}
			r = r.Clone(r.Context())
			r.Body = io.NopCloser(bytes.NewReader(body))
			return next.RoundTrip(r)
		})
	})
}

// before has something done right before the next deletion goes out.
func (w *wire) before(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.do = do
}

// deletions are the bodies of what was sent.
func (w *wire) deletions() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.sent...)
}
