package engine_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An object with a higher number than the newest revision, which no inventory explains", func() {
	// lost installs an object with revision 5, of which then nothing is known.
	lost := func(ctx SpecContext, w *world, objects ...*unstructured.Unstructured) *running {
		GinkgoHelper()
		e := w.start()
		e.install(ctx, of(5, objects...))
		e.stop()
		w.delete(ctx, w.configMap("capstan-inventory-5"))
		return w.start()
	}

	// told is the question whether the report of what was seen tells of an object.
	told := func(o *unstructured.Unstructured) func(*engine.Report) error {
		return func(report *engine.Report) error {
			if report.Unknown() {
				return errors.New(report.Blocked())
			}
			return acted(o, engine.Failed)(report)
		}
	}

	It("is told, and overtaken by the next number", func(ctx SpecContext) {
		w := begin(ctx)
		five, other := w.configMap("a", "key", "five"), w.configMap("a", "key", "other")
		e := lost(ctx, w, five)
		report := e.until(ctx, of(4, other), told(other))
		Expect(report.Complete()).To(BeFalse())
		Expect(report.Blocked()).To(And(ContainSubstring("revision number 5"), ContainSubstring("lists a revision with a higher number by itself")))
		Expect(report.Ahead()).To(Equal(int64(5)))
		Expect(field(w.fetch(ctx, five), "data", "key")).To(Equal("five"))
		Expect(e.converge(ctx, of(6, other)).Ahead()).To(BeZero())
		Expect(field(w.fetch(ctx, five), "data", "key")).To(Equal("other"))
	})

	It("is nothing to count from where tenants write, and put right when the number is taken away", func(ctx SpecContext) {
		w := begin(ctx)
		theirs := w.newNamespace("theirs")
		w.create(ctx, theirs)
		five := with(w.configMap("a", "key", "five"), theirs.GetName(), "metadata", "namespace")
		other := with(five, "other", "data", "key")
		e := lost(ctx, w, five)
		report := e.until(ctx, of(4, other), told(other))
		Expect(report.Blocked()).To(And(ContainSubstring("revision number 5"), ContainSubstring("take its annotation")))
		Expect(report.Ahead()).To(BeZero())
		w.merge(ctx, "administrator", five, `{"metadata":{"annotations":{"`+engine.RevisionAnnotation+`":null}}}`)
		e.converge(ctx, of(4, other))
		Expect(field(w.fetch(ctx, five), "data", "key")).To(Equal("other"))
	})

	It("is complete once its inventory is there again", func(ctx SpecContext) {
		w := begin(ctx)
		a := w.configMap("a")
		e := w.start()
		e.install(ctx, of(5, a))
		e.stop()
		kept := bare(w.fetch(ctx, w.configMap("capstan-inventory-5")))
		w.delete(ctx, kept)
		e = w.start()
		rev := of(4, a)
		e.until(ctx, rev, told(a))
		w.create(ctx, kept)
		e.until(ctx, rev, acted(a, engine.Progressed))
		Expect(e.Orphans(rev).Ahead).To(Equal(int64(5)))
	})
})
