package faults_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// bootFault is one thing that goes wrong for the machines of boot images: a row of their matrix.
type bootFault struct {
	// name and doc are for people.
	name, doc string
	// quick faults are tried in Cloning by every run of the tests.
	quick bool
	// begin lets it go wrong; what ends it is given to c.later.
	begin func(ctx context.Context, c *bootCell)
	// expect is what is to happen in each state.
	expect func(*bootStage) bootExpectation
}

// bootExpectation is what is to be seen of a fault in one state.
type bootExpectation struct {
	// word is what the matrix shows; never is why the fault cannot meet the state, and then nothing else is set.
	word  word
	never string
	// to is the state that the machine is in while the fault lasts; empty for the stage's.
	to string
	// told are texts that one condition has while the fault lasts.
	told []string
	// more are the writes that the fault costs beside those of the undisturbed way, and again how many attempts.
	more  map[string]int
	again int
	// gone says that there is no target while the fault lasts, and that another is made then; uncounted that attempts are not
	// looked for in the end.
	gone, uncounted bool
	// promise is what holds while the fault lasts; nil for that the target has the image that it had.
	promise func(context.Context) error
}

// bootCell is one fault in one state while it is tried.
type bootCell struct {
	undoing
	*bootStage
	bootExpectation
	// number is the release at which it ends, and was the one before.
	number, was int
	from        cluster.Mark
	letGo       func()
	observed    string
}

// bootPlace is one cell of the matrix.
type bootPlace struct {
	*bootStage
	bootFault
	bootExpectation
}

// bootPlaces are all cells, by state.
func bootPlaces() (all []bootPlace) {
	for _, s := range bootStages {
		for _, f := range bootFaults() {
			if e := f.expect(s); e.never == "" {
				all = append(all, bootPlace{s, f, e})
			}
		}
	}
	return all
}

var _ = Describe("The matrix of boot images:", Ordered, ContinueOnFailure, func() {
	AfterAll(leaveBoot)
	for _, p := range bootPlaces() {
		labels := Label("long")
		if p.quick && p.state == cloning {
			labels = Label("long", "short")
		}
		It(fmt.Sprintf("in %s, %s", p.state, p.name), labels, func(ctx SpecContext) { tryBoot(ctx, p) }, NodeTimeout(3*time.Minute))
	}
})

func leaveBoot(ctx SpecContext) {
	leaveMatrix(ctx)
	bootAt = 0
}

// tryBoot makes one fault in one state, and sees it through.
func tryBoot(ctx context.Context, p bootPlace) {
	GinkgoHelper()
	c := reachBoot(ctx, p)
	began, ok := time.Now(), false
	defer func() {
		results = append(results, result{
			Machine: p.machine, State: p.state, Replicas: 1, Fault: p.name, Expected: string(p.word), Observed: c.observed,
			Seconds: float64(time.Since(began).Milliseconds()) / 1000, OK: ok,
		})
		if !ok {
			c.account(ctx)
			c.end()
		}
	}()
	p.begin(ctx, c)
	c.meets(ctx)
	c.end()
	c.heals(ctx)
	bootAt, ok = c.number, true
}

// account is what is told in the end.
func (c *bootCell) account(ctx context.Context) {
	writes, all, err := taken(ctx, c.from)
	GinkgoWriter.Println("taken:", writes, err, "\n", all.String(), "\n", tellsBoot(ctx, "nothing says this"))
}

// meets waits for what is to be seen while the fault lasts.
func (c *bootCell) meets(ctx context.Context) {
	GinkgoHelper()
	if c.word == movesOn {
		return // there is no moment of which it is known what is to be seen
	}
	state := c.state
	if c.to != "" {
		state = c.to
	}
	promise := c.bootStage.promiseOf(c)
	if c.bootExpectation.promise != nil {
		promise = c.bootExpectation.promise
	}
	eventually(ctx, "what is expected while the fault lasts", func(ctx context.Context) error {
		err := c.is(ctx, state)
		if c.gone {
			err = noTarget(ctx)
		}
		if len(c.told) > 0 {
			err = errors.Join(err, tellsBoot(ctx, c.told...))
		}
		return err
	})
	Expect(promise(ctx)).To(Succeed(), "the target was written while the fault lasted")
	c.observed = state
}

// heals sees that everything ends as if there had been no fault.
func (c *bootCell) heals(ctx context.Context) {
	GinkgoHelper()
	eventually(ctx, "everything to end as without the fault", atRest(c.number))
	eventually(ctx, "one clone to be left", func(ctx context.Context) error { return clonesAreThose(ctx, c.number) })
	writes, all, err := taken(ctx, c.from)
	Expect(err).NotTo(HaveOccurred())
	for _, kind := range []string{"update secrets", "create awsmachinetemplates", "patch machinesets"} {
		if (c.gone || c.rests) && kind == "create awsmachinetemplates" {
			continue // while nothing names the clone it may be retired, and made anew
		}
		Expect(writes[kind]).To(Equal(c.does[kind]+c.more[kind]), "%s: %s", kind, all)
	}
	if c.uncounted {
		return
	}
	made, err := attemptsOf(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(made).To(BeNumerically("<=", 1+c.again), "attempts")
}
