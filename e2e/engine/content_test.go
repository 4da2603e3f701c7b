package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The content of an object", func() {
	It("case 1: is created with one request that could change nothing, and its manifest stays as it was", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		given := wanted.DeepCopy()
		since := mark(ctx)
		e := w.start()
		rev := of(7, wanted)
		e.see(ctx, rev)
		report, err := e.Reconcile(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, wanted).Action).To(Equal(engine.Created))
		Expect(wanted).To(Equal(given))
		sent := about(wanted, w.writes(ctx, since))
		Expect(sent).To(HaveLen(1), sent.String())
		Expect(sent[0].IsCreation()).To(BeTrue(), sent.String())
		found := w.fetch(ctx, wanted)
		Expect(entries(found)).To(ConsistOf("capstan Apply"))
		Expect(number(found)).To(Equal("7"))
		Expect(found.GetOwnerReferences()).To(BeEmpty())
	})

	It("case 2: is left alone by the second pass", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		before := w.fetch(ctx, wanted)
		since := mark(ctx)
		report, err := e.Reconcile(ctx, of(1, wanted))
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, wanted).Action).To(Equal(engine.Idle))
		Expect(w.fetch(ctx, wanted)).To(Equal(before))
		Expect(w.requests(ctx, since)).To(BeEmpty())
	})

	It("case 3: leaves room for a field that another manager adds, also in later revisions", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		since := mark(ctx)
		changed := e.change()
		w.ssa(ctx, "other", w.configMap("a", "x", "theirs"))
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		report, err := e.Reconcile(ctx, of(1, wanted))
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, wanted).Action).To(Equal(engine.Idle))
		Expect(w.writes(ctx, since)).To(BeEmpty())
		for n := range int64(2) {
			e.converge(ctx, of(n+2, with(wanted, "newer", "data", "key")))
			Expect(field(w.fetch(ctx, wanted), "data")).To(Equal(map[string]any{"key": "newer", "x": "theirs"}))
		}
	})

	It("case 4: is restored when another manager puts other values there, and is ours alone again", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		w.put(ctx, "other", wanted, func(o *unstructured.Unstructured) { o.Object["data"] = map[string]any{"key": "theirs"} })
		report := e.until(ctx, of(1, wanted), acted(wanted, engine.Recovered))
		Expect(in(report, wanted).Why).To(ContainSubstring("other"))
		found := w.fetch(ctx, wanted)
		Expect(field(found, "data", "key")).To(Equal("value"))
		Expect(holds(found, "capstan", `"f:key"`)).To(BeTrue())
		Expect(holds(found, "other", `"f:key"`)).To(BeFalse())
	})

	It("case 5: may be held by another manager too, if the values are the same", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		since, changed := mark(ctx), e.change()
		w.ssa(ctx, "other", w.configMap("a", "key", "value"))
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		report, err := e.Reconcile(ctx, of(1, wanted))
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, wanted).Action).To(Equal(engine.Idle))
		Expect(w.requests(ctx, since)).To(BeEmpty())
		Expect(holds(w.fetch(ctx, wanted), "other", `"f:key"`)).To(BeTrue())
	})

	It("case 6: loses a field that the next revision does not have and that nobody else holds", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.configMap("a", "key", "value", "old", "value")))
		e.converge(ctx, of(2, w.configMap("a", "key", "value")))
		Expect(field(w.fetch(ctx, w.configMap("a")), "data")).To(Equal(map[string]any{"key": "value"}))
	})

	It("case 7: keeps a field that the next revision does not have but another manager holds, and that one holds it alone", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.configMap("a", "key", "value", "old", "value")))
		w.ssa(ctx, "other", w.configMap("a", "old", "value"))
		e.converge(ctx, of(2, w.configMap("a", "key", "value")))
		found := w.fetch(ctx, w.configMap("a"))
		Expect(field(found, "data")).To(Equal(map[string]any{"key": "value", "old": "value"}))
		Expect(holds(found, "other", `"f:old"`)).To(BeTrue())
		Expect(holds(found, "capstan", `"f:old"`)).To(BeFalse())
	})

	It("case 8: loses a field that is not rendered any more although the revision is the same", func(ctx SpecContext) {
		w := begin(ctx)
		former := of(1, w.configMap("a", "key", "value", "old", "value"))
		first := w.start()
		first.converge(ctx, former)
		first.stop()
		// Another version of the operator renders the same release content in another way.
		now := of(1, w.configMap("a", "key", "value"))
		now.ContentID = former.ContentID
		report := w.start().until(ctx, now, acted(w.configMap("a"), engine.Updated))
		Expect(in(report, w.configMap("a")).Why).To(ContainSubstring("old"))
		Expect(field(w.fetch(ctx, w.configMap("a")), "data")).To(Equal(map[string]any{"key": "value"}))
	})

	It("case 9: is restored when its values have drifted and its managed fields were wiped", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		e.stop()
		w.merge(ctx, "other", wanted, `{"data":{"key":"theirs"}}`)
		w.merge(ctx, "other", wanted, `{"metadata":{"managedFields":[{}]}}`)
		Expect(w.fetch(ctx, wanted).GetManagedFields()).To(BeEmpty())
		w.start().until(ctx, of(1, wanted), acted(wanted, engine.Recovered))
		found := w.fetch(ctx, wanted)
		Expect(field(found, "data", "key")).To(Equal("value"))
		Expect(holds(found, "capstan", `"f:key"`)).To(BeTrue())
	})

	It("case 10: takes the next revision although an Update entry of ours was left behind, which becomes part of the Apply entry", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.configMap("a", "key", "value", "old", "value")))
		e.stop()
		w.put(ctx, fieldManager, w.configMap("a"), func(o *unstructured.Unstructured) {
			o.Object["data"] = map[string]any{"key": "stale", "old": "stale"}
		})
		Expect(entries(w.fetch(ctx, w.configMap("a")))).To(ContainElement("capstan Update"))
		w.start().converge(ctx, of(2, w.configMap("a", "key", "newer")))
		found := w.fetch(ctx, w.configMap("a"))
		Expect(entries(found)).To(ConsistOf("capstan Apply"))
		Expect(field(found, "data")).To(Equal(map[string]any{"key": "newer"}))
	})
})
