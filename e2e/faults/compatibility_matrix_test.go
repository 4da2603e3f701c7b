package faults_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// needFault is one thing that goes wrong for the machine compatibility: a row of its matrix.
type needFault struct {
	// name and doc are for people.
	name, doc string
	// quick faults are tried in Met by every run of the tests.
	quick bool
	// begin lets it go wrong; what ends it is given to c.later.
	begin func(ctx context.Context, c *needCell)
	// expect is what is to happen in each state.
	expect func(*needStage) needExpectation
}

// needExpectation is what is to be seen of a fault in one state.
type needExpectation struct {
	// word is what the matrix shows; never is why the fault cannot meet the state, and then nothing else is set.
	word  word
	never string
	// to is the state that the machine is in while the fault lasts, and reason what condition Progressing says then; empty for
	// those of the stage.
	to, reason string
	// told are texts that Progressing has while the fault lasts.
	told []string
	// blocked says that nothing is put right while the fault lasts.
	blocked bool
	// promise is what API servers have to do while the fault lasts; nil for what they have to do without.
	promise func(context.Context) error
	// departs says that the state is not come back to by itself: the machine ends in Met when all that holds the state is gone.
	departs bool
}

// needCell is one fault in one state while it is tried.
type needCell struct {
	undoing
	*needStage
	needExpectation
	moves    []harness.Transition
	observed string
}

// needPlace is one cell of the matrix.
type needPlace struct {
	*needStage
	needFault
	needExpectation
}

// needPlaces are all cells, by state.
func needPlaces() (all []needPlace) {
	for _, s := range needStages {
		for _, f := range needFaults() {
			if e := f.expect(s); e.never == "" {
				all = append(all, needPlace{s, f, e})
			}
		}
	}
	return all
}

var _ = Describe("The matrix of compatibility:", Ordered, ContinueOnFailure, func() {
	AfterAll(func(ctx SpecContext) {
		leaveMatrix(ctx)
		atNeed = nil
	})
	for _, p := range needPlaces() {
		labels := Label("long")
		if p.quick && p.state == inMet {
			labels = Label("long", "short")
		}
		It(fmt.Sprintf("in %s, %s", p.state, p.name), labels, func(ctx SpecContext) { tryNeed(ctx, p) }, NodeTimeout(3*time.Minute))
	}
})

// tryNeed makes one fault in one state, and sees it through.
func tryNeed(ctx context.Context, p needPlace) {
	GinkgoHelper()
	reachNeed(ctx, p.needStage)
	v, err := seeNeed(ctx)
	Expect(err).NotTo(HaveOccurred())
	c := &needCell{needStage: p.needStage, needExpectation: p.needExpectation, moves: v.record.Transitions}
	began, ok := time.Now(), false
	defer func() {
		results = append(results, result{
			Machine: "compatibility", State: p.state, Replicas: 1, Fault: p.name, Expected: string(p.word), Observed: c.observed,
			Seconds: float64(time.Since(began).Milliseconds()) / 1000, OK: ok,
		})
		if !ok {
			atNeed = nil
			c.end()
			c.account(ctx)
		}
	}()
	p.begin(ctx, c)
	c.meets(ctx)
	c.end()
	c.heals(ctx)
	ok = true
}

// account is what the requirement says of itself in the end.
func (c *needCell) account(ctx context.Context) {
	v, err := seeNeed(ctx)
	hooks, hooksErr := hooksOf(ctx)
	GinkgoWriter.Println(v.Status, err, "\n", hooks, hooksErr)
}

// meets waits for what is to be seen while the fault lasts.
func (c *needCell) meets(ctx context.Context) {
	GinkgoHelper()
	state, reason := c.state, c.needStage.reason
	if c.to != "" {
		state, reason = c.to, c.needExpectation.reason
	}
	v := untilNeed(ctx, "what is expected while the fault lasts", func(v needView) error {
		return errors.Join(inNeed(state)(v), v.tells("Progressing", reason, c.told...))
	})
	if c.to == "" && c.word != returns {
		Expect(v.record.Transitions).To(Equal(c.moves), "the state was left and entered again")
	}
	if state == inOpen || state == harness.Degraded {
		until(ctx, "the ClusterOperator to tell of it", mentions("capstan disarm"))
	}
	c.observed = v.record.State + ": " + v.record.Reason
	if c.blocked {
		Expect(c.right(ctx)).NotTo(Succeed(), "the fault did not keep the operator from its work")
	} else if c.to == "" {
		eventually(ctx, "what was disturbed to be put right while the fault lasts", c.right)
	}
	promise := c.needStage.promise
	if c.needExpectation.promise != nil {
		promise = c.needExpectation.promise
	}
	eventually(ctx, "what is promised while the fault lasts", promise)
}

// heals sees that everything is as before the fault, and that the operator works.
func (c *needCell) heals(ctx context.Context) {
	GinkgoHelper()
	if c.departs {
		atNeed = nil
		return
	}
	if c.to == inOpen && c.state != inOpen {
		outlive(ctx)
	}
	untilNeed(ctx, "the state to be as before the fault", c.rests)
	eventually(ctx, "everything to be as before the fault", c.right)
	c.disturb(ctx)
	eventually(ctx, "what is disturbed to be put right", c.right)
	untilNeed(ctx, "the state to be as before the fault", c.rests)
	eventually(ctx, "what is promised in "+c.state, c.needStage.promise)
}
