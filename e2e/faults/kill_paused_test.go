package faults_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An operator that is killed right after a write while it is being paused, and started again,", Ordered, func() {
	AfterAll(func(ctx SpecContext) { leaveDepartures(ctx) })

	It("is paused, writes nothing but its report, and does all of it after the end, whichever write it was", Label("long"), func(ctx SpecContext) {
		atGood(ctx)
		at = nil
		for n := 1; killedWhilePausing(ctx, n); n++ {
			AddReportEntry("kill points of a pause", n, ReportEntryVisibilityNever)
		}
	}, NodeTimeout(10*time.Minute))
})

// killedWhilePausing kills the operator after its n-th write on the way into a pause, in which an object is edited and another release
// is asked for, and sees another one through. It says whether it came to that.
func killedWhilePausing(ctx context.Context, n int) bool {
	GinkgoHelper()
	what := fmt.Sprintf("after write %d", n)
	since := mark(ctx)
	killed, cut := between.EndAfter(n, operator().Kill), false
	for _, step := range []struct {
		do   func()
		told func(harness.View) error
	}{
		{func() { Expect(harness.Pause(ctx, env.Client, env.Now(), pauses)).To(Succeed()) }, isAt(stageOf(harness.Paused))},
		{func() { next(); edit(ctx) }, func(v harness.View) error { return mentions(target)(v) }},
		{func() { askForTheOther(ctx) }, mentions(asked)},
	} {
		step.do()
		eventually(ctx, "it to be told, or the operator to be killed "+what, func(ctx context.Context) error {
			select {
			case <-killed:
				if !cut {
					cut = true
					killPoints.tried(harness.Paused, sigkill)
					endAll()
					startGood()
				}
			default:
			}
			v, err := harness.See(ctx, env.Client)
			if err == nil {
				err = step.told(v)
			}
			return err
		})
	}
	endAll() // the n-th write may have come after all was told
	startGood()
	wroteOnlyItsReport(ctx, since)
	resume(ctx)
	eventually(ctx, "the edited object to be put right", isRight)
	if cut {
		killPoints.converged(harness.Paused, sigkill)
	}
	return cut
}
