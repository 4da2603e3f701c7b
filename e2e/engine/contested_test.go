package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A field that another manager keeps writing", func() {
	It("case 30: is reported with that manager, and written at most once in a minute until the other one is quiet", func(ctx SpecContext) {
		w := begin(ctx)
		clk := clocktesting.NewFakeClock(time.Now())
		e := w.start(func(c *engine.Config) { c.Clock = clk })
		wanted := w.configMap("a", "key", "value")
		rev := of(1, wanted)
		e.converge(ctx, rev)

		for range 5 {
			w.merge(ctx, "rival", wanted, `{"data":{"key":"theirs"}}`)
			e.until(ctx, rev, acted(wanted, engine.Recovered))
			clk.Step(time.Second)
		}
		w.merge(ctx, "rival", wanted, `{"data":{"key":"theirs"}}`)
		report := e.until(ctx, rev, acted(wanted, engine.Contested))
		Expect(report.Complete()).To(BeTrue(), "a contested object counts as applied")
		Expect(report.Contested()).To(HaveLen(1))
		contest := report.Contested()[0].Conflict
		Expect(contest.Managers).To(Equal([]string{"rival"}))
		Expect(contest.Field).To(Equal(".data.key"))
		Expect(contest.Times).To(Equal(5))

		since := mark(ctx)
		for range 5 {
			_, err := e.Reconcile(ctx, rev)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(w.writes(ctx, since)).To(BeEmpty())
		Expect(field(w.fetch(ctx, wanted), "data", "key")).To(Equal("theirs"))

		woken := e.change()
		w.passTime(ctx, clk, time.Minute, woken)
		e.until(ctx, rev, acted(wanted, engine.Recovered))
		Expect(field(w.fetch(ctx, wanted), "data", "key")).To(Equal("value"))
		Expect(about(wanted, w.writes(ctx, since))).To(HaveLen(1))

		woken = e.change()
		w.passTime(ctx, clk, 5*time.Minute, woken)
		report = e.until(ctx, rev, func(report *engine.Report) error {
			if contested := report.Contested(); len(contested) > 0 {
				return errors.New(contested[0].Conflict.String())
			}
			return nil
		})
		Expect(in(report, wanted).Action).To(Equal(engine.Idle))
	})

	It("does not keep a newer revision from being applied", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start(func(c *engine.Config) { c.Clock = clocktesting.NewFakeClock(time.Now()) })
		wanted := w.configMap("a", "key", "value")
		e.converge(ctx, of(1, wanted))
		for range 5 {
			w.merge(ctx, "rival", wanted, `{"data":{"key":"theirs"}}`)
			e.until(ctx, of(1, wanted), acted(wanted, engine.Recovered))
		}
		w.merge(ctx, "rival", wanted, `{"data":{"key":"theirs"}}`)
		e.until(ctx, of(1, wanted), acted(wanted, engine.Contested))
		e.until(ctx, of(2, w.configMap("a", "key", "other")), acted(wanted, engine.Updated))
		Expect(field(w.fetch(ctx, wanted), "data", "key")).To(Equal("other"))
	})
})

// passTime steps a clock over a while, and waits until the engine noticed.
func (w *world) passTime(ctx context.Context, clk *clocktesting.FakeClock, while time.Duration, noticed <-chan struct{}) {
	GinkgoHelper()
	eventually(ctx, "a timer", func(context.Context) error {
		if !clk.HasWaiters() {
			return errors.New("nobody waits for time to pass")
		}
		return nil
	})
	clk.Step(while)
	eventually(ctx, fmt.Sprintf("a notification after %s", while), func(context.Context) error {
		select {
		case <-noticed:
			return nil
		default:
			return errors.New("none yet")
		}
	})
}
