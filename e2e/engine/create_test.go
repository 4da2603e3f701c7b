package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An object that is applied", func() {
	It("case 1: is created with one POST and at most one patch of its managed fields, and its manifest stays as it was", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		given := wanted.DeepCopy()
		since := mark(ctx)
		report := w.start().converge(ctx, of(7, wanted))
		Expect(in(report, wanted).Action).To(BeElementOf(engine.Created, engine.Idle))
		Expect(wanted).To(Equal(given))
		sent := about(wanted, w.writes(ctx, since))
		Expect(verbs(sent)).To(BeElementOf([]string{"create"}, []string{"create", "patch"}), sent.String())
		found := w.fetch(ctx, wanted)
		Expect(entries(found)).To(ConsistOf("capstan Apply"))
		Expect(number(found)).To(Equal("7"))
	})

	It("case 2: is left alone the second time", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		before := w.fetch(ctx, wanted)
		since := mark(ctx)
		report, err := e.apply(ctx, of(1, wanted))
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, wanted).Action).To(Equal(engine.Idle))
		Expect(w.fetch(ctx, wanted)).To(Equal(before))
		Expect(w.requests(ctx, since)).To(BeEmpty())
	})
})
