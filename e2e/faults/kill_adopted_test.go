package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An operator that is killed right after a write while a CRD is waited for, and started again,", Ordered, func() {
	AfterAll(func(ctx SpecContext) { leaveDepartures(ctx) })

	It("waits for it, goes on when it comes, and goes back, whichever write it was", Label("long"), func(ctx SpecContext) {
		reachStage(ctx, stageOf(harness.AwaitingCRDs))
		at = nil
		waits, goes := isAt(stageOf(harness.AwaitingCRDs)), all(harness.InState(harness.Installed), finished)
		waiting := stateOf(ctx)
		adopt(ctx, "size", "colour")
		until(ctx, "the release to be installed", goes)
		installed := stateOf(ctx)
		back(ctx)
		both := stateOf(ctx)
		maps.DeleteFunc(both, func(key string, _ harness.Thing) bool { _, stays := installed[key]; return !stays })
		for n, again := 1, true; again; n++ {
			into := killedOnTheWay(ctx, n, waiting, waits, func() { Expect(env.SetImages(ctx, images(needing))).To(Succeed()) })
			out := killedOnTheWay(ctx, n, installed, goes, func() { adopt(ctx, "size", "colour") })
			back(ctx)
			Expect(lost(stateOf(ctx), both)).To(Succeed(), "after write %d", n)
			again = into || out
		}
	}, NodeTimeout(30*time.Minute))
})

// back goes back to the release before, and to the definition that lacks the field.
func back(ctx context.Context) {
	GinkgoHelper()
	Expect(env.SetImages(ctx, images(one))).To(Succeed())
	until(ctx, "the release before to be installed", harness.InState(harness.Installed), finished, func(v harness.View) error {
		if len(v.Revisions()) != 1 {
			return errors.New("there are more revisions")
		}
		return nil
	})
	eventually(ctx, "nothing to be required any more", func(ctx context.Context) error {
		state, err := env.State(ctx)
		for key := range state {
			if strings.HasPrefix(key, requirementsKey) {
				return errors.New(key)
			}
		}
		return err
	})
	adopt(ctx, "size")
}

// killedOnTheWay kills the operator after its n-th write from a change on, and sees another one through to the undisturbed end.
// It says whether it came to that before all was done.
func killedOnTheWay(ctx context.Context, n int, undisturbed harness.State, question func(harness.View) error, change func()) bool {
	GinkgoHelper()
	what := fmt.Sprintf("after write %d", n)
	killed := between.EndAfter(n, operator().Kill)
	change()
	cut := false
	eventually(ctx, "the operator to be killed "+what+", or to be done", func(ctx context.Context) error {
		select {
		case <-killed:
			cut = true
			return nil
		default:
		}
		v, err := harness.See(ctx, env.Client)
		if err == nil {
			err = question(v)
		}
		return err
	})
	if cut {
		killPoints.tried(harness.AwaitingCRDs, sigkill)
	}
	endAll()
	startGood()
	until(ctx, "all to be as without the kill "+what, question)
	eventually(ctx, "every object to be as without the kill "+what, func(ctx context.Context) error {
		state, err := env.State(ctx)
		if err != nil {
			return err
		}
		return differ(state, undisturbed)
	})
	if cut {
		killPoints.converged(harness.AwaitingCRDs, sigkill)
	}
	return cut
}

// stageOf is the stage of a state.
func stageOf(state string) *stage {
	for _, s := range stages {
		if s.state == state {
			return s
		}
	}
	return nil
}
