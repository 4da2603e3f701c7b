package engine_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A field that admission changes back", func() {
	It("is told, written less and less often, and put right when admission lets it", func(ctx SpecContext) {
		w := begin(ctx)
		clk := clocktesting.NewFakeClock(time.Now())
		lift := w.rewrite(ctx, "key", "theirs")
		e := w.start(func(c *engine.Config) { c.Clock = clk })
		wanted := w.configMap("a", "key", "value")
		rev := of(1, wanted)
		report := e.until(ctx, rev, acted(wanted, engine.Contested))
		Expect(report.Complete()).To(BeTrue(), "a contested object counts as applied")
		Expect(report.Contested()).To(HaveLen(1))
		contest := report.Contested()[0].Conflict
		Expect(contest.Field).To(Equal(".data.key"))
		Expect(contest.String()).To(ContainSubstring("admission"))

		since := mark(ctx)
		for range 5 {
			w.merge(ctx, "other", wanted, `{"metadata":{"labels":{"team":"`+time.Now().Format("150405.000000000")[7:]+`"}}}`)
			_, err := e.Reconcile(ctx, rev)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(w.writes(ctx, since)).To(BeEmpty())

		for _, pause := range []time.Duration{time.Minute, 2 * time.Minute} {
			woken := e.change()
			w.passTime(ctx, clk, pause, woken)
			e.until(ctx, rev, acted(wanted, engine.Contested))
		}
		Expect(about(wanted, w.writes(ctx, since))).To(HaveLen(2))

		lift()
		woken := e.change()
		w.passTime(ctx, clk, 4*time.Minute, woken)
		e.until(ctx, rev, func(*engine.Report) error { return has(w.fetch(ctx, wanted), "value", "data", "key") })
		woken = e.change()
		w.passTime(ctx, clk, 5*time.Minute, woken)
		report = e.until(ctx, rev, acted(wanted, engine.Idle))
		Expect(report.Contested()).To(BeEmpty())
	})
})
