package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// fault is one thing that goes wrong: a row of the matrix.
type fault struct {
	// name and doc are for people; the doc says what goes wrong and, where it is not plain, for how long.
	name, doc string
	// quick faults are in the selection that every run of the tests makes.
	quick bool
	// begin lets it go wrong; what ends it is given to c.later.
	begin func(ctx context.Context, c *cell)
	// expect is what is to happen in each state.
	expect func(s *stage) expectation
	// alone is why it is not made with two replicas; relieved says that another process is not troubled, and puts right what was edited.
	alone    string
	relieved bool
}

// expectation is what is to be seen of a fault in one state.
type expectation struct {
	// word is what the matrix shows; never is why the fault cannot meet the state, and then nothing else is set.
	word  word
	never string
	// to is the state that the machine goes to; empty for one that it does not leave.
	to string
	// told is what people are told while the fault lasts.
	told []func(harness.View) error
	// blocked says that nothing is repaired while the fault lasts; mended that it must be repaired meanwhile.
	blocked, mended bool
	// renewed are objects, by their key in a State, that may be made anew.
	renewed []string
	// departs says that the state is not come back to: it ends with everything installed.
	departs bool
}

// word is one of the few ways in which a fault ends, as the matrix shows it.
type word string

const (
	unnoticed word = "stays"
	told      word = "stays, tells"
	escalates word = "Degraded"
	returns   word = "comes back"
	replans   word = "Planning"
	waits     word = "WaitingOnInfra"
	settles   word = "Installed"
	resumes   word = "ends"
)

// cell is one fault in one state while it is tried.
type cell struct {
	undoing
	*stage
	expectation
	before   harness.State
	moves    []harness.Transition
	observed string
	// since is when it began, and afterwards what is to be seen once the state was left, where nothing is written before.
	since      cluster.Mark
	afterwards []func()
}

// everywhere expects the same in all states.
func everywhere(e expectation) func(*stage) expectation {
	return func(*stage) expectation { return e }
}

// faults are the rows of the matrix, in the order of the document.
func faults() []fault {
	return slices.Concat(writeFaults, watchFaults, statusFaults, registryFaults, listFaults, cacheFaults, clusterFaults, objectFaults, adoptedFaults, podFaults, operatorFaults, clockFaults)
}

// place is one cell of the matrix: a fault in a state, and what is to happen.
type place struct {
	*stage
	fault
	expectation
}

// places are all cells, by state.
func places() (all []place) {
	for _, s := range stages {
		for _, f := range faults() {
			if e := f.in(s); e.never == "" {
				all = append(all, place{s, f, e})
			}
		}
	}
	return all
}

var _ = Describe("The matrix:", Ordered, ContinueOnFailure, func() {
	AfterAll(leaveMatrix)
	for _, p := range places() {
		labels := Label("long")
		if p.quick && (p.picks == nil || slices.Contains(p.picks, p.name)) {
			labels = Label("long", "short")
		}
		It(fmt.Sprintf("in %s, %s", p.state, p.name), labels, func(ctx SpecContext) { try(ctx, p) }, NodeTimeout(3*time.Minute))
	}
})

func leaveMatrix(ctx SpecContext) {
	GinkgoHelper()
	endAll()
	endChecker(ctx)
	env.Registry.SetFault(nil)
	at = nil
}

// try makes one fault in one state, and sees it through.
func try(ctx context.Context, p place) {
	GinkgoHelper()
	reachStage(ctx, p.stage)
	c := &cell{stage: p.stage, expectation: p.expectation, before: stateOf(ctx)}
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	c.moves = v.Record.Transitions
	if p.quiet {
		c.since = mark(ctx)
		delete(c.before, goesKey) // which only one of the two releases has
	}
	began, ok := time.Now(), false
	defer func() { report(p, c.observed, time.Since(began), ok) }()
	defer func() {
		if !ok {
			at = nil
			c.end()
		}
	}()
	p.begin(ctx, c)
	c.meets(ctx)
	c.keeps(ctx)
	if replicas.count > 1 {
		takeOver(ctx)
		if p.relieved {
			c.expectation = expectation{word: unnoticed, mended: true}
		}
		c.meets(ctx)
		c.keeps(ctx)
	}
	c.end()
	c.heals(ctx)
	ok = true
}

// meets waits for what is to be seen while the fault lasts.
func (c *cell) meets(ctx context.Context) {
	GinkgoHelper()
	state := c.to
	if state == "" {
		state = c.state
	}
	questions := []func(harness.View) error{harness.InState(state)}
	if c.told == nil && state == c.state {
		questions = append(questions, c.rest)
	}
	v := until(ctx, "what is expected while the fault lasts", slices.Concat(questions, c.expectation.told)...)
	if c.to == "" && c.word != returns {
		Expect(v.Record.Transitions).To(Equal(c.moves), "the state was left and entered again")
	}
	c.observed = observe(v)
	if c.mended {
		eventually(ctx, "the edited object to be put right while the fault lasts", isRight)
	}
}

// keeps sees that what the good revision has applied is there, as it was.
func (c *cell) keeps(ctx context.Context) {
	GinkgoHelper()
	if c.blocked {
		Expect(isRight(ctx)).NotTo(Succeed(), "the fault did not keep the operator from its work")
	}
	eventually(ctx, "what the good revision has applied to be there", func(ctx context.Context) error {
		now, err := env.State(ctx)
		if err != nil {
			return err
		}
		return errors.Join(c.same(now), c.untouched(now))
	})
	if c.to != "" {
		v, err := harness.See(ctx, env.Client)
		Expect(err).NotTo(HaveOccurred())
		Expect(harness.InState(c.to)(v)).To(Succeed(), "the state that the fault led to did not last")
	} else if c.quiet {
		wroteOnlyItsReport(ctx, c.since)
	}
}

// untouched is nil when nobody has written to what nobody had a reason to write to.
func (c *cell) untouched(now harness.State) error {
	const kept = "configmaps openshift-cluster-api/kept"
	if c.departs || now[kept].Version == c.before[kept].Version {
		return nil
	}
	return fmt.Errorf("%s was written without a reason", kept)
}

// same is nil when every object is there and is the one that was there before.
func (c *cell) same(now harness.State) error {
	for _, key := range slices.Sorted(maps.Keys(c.before)) {
		thing, there := now[key]
		switch {
		case slices.Contains(c.renewed, key):
		case !there:
			return fmt.Errorf("%s is gone", key)
		case thing.UID != c.before[key].UID:
			return fmt.Errorf("%s was made anew", key)
		}
	}
	return nil
}

// heals sees that everything is as before the fault, and that the operator works.
func (c *cell) heals(ctx context.Context) {
	GinkgoHelper()
	if c.departs {
		at = nil
		c.leave(ctx)
		eventually(ctx, "every object to be there in the end", func(ctx context.Context) error {
			now, err := env.State(ctx)
			if err != nil {
				return err
			}
			delete(c.before, "configmaps openshift-cluster-api/goes")
			return c.same(now)
		})
		return
	}
	if c.quiet {
		c.healsAfterwards(ctx)
		return
	}
	c.stage.hold(ctx)
	until(ctx, "the state to be as before the fault", isAt(c.stage))
	next()
	edit(ctx)
	eventually(ctx, "an edited object to be put right", isRight)
	eventually(ctx, "everything to be as before the fault", func(ctx context.Context) error {
		now, err := env.State(ctx)
		if err != nil {
			return err
		}
		return errors.Join(differ(now, c.before), c.same(now))
	})
	until(ctx, "the state to be as before the fault", isAt(c.stage))
}

// troubled is what is told in a state of work that meets an error which may
// heal, with these texts.
func troubled(s *stage, texts ...string) []func(harness.View) error {
	available := says("Available", "True", "AsExpected")
	switch s.state {
	case harness.Paused:
		return append(mentionsAll(texts...), s.rest)
	case harness.MaxRevisions:
		return []func(harness.View) error{says("Degraded", "True", "NonRetryableError", texts...), available}
	case harness.Degraded:
		return []func(harness.View) error{says("Degraded", "True", "EphemeralError", texts...), says("Progressing", "True", "EphemeralError", texts...), available}
	}
	return []func(harness.View) error{says("Progressing", "True", "EphemeralError", texts...), says("Degraded", "False", "AsExpected"), available}
}

// unkept is what is told where an error that may heal keeps an object of the good revision from being put right.
func unkept(s *stage, texts ...string) []func(harness.View) error {
	if s.state == harness.AwaitingCRDs { // that revision is the one before, which holds up nothing
		return append(waitsFor(texts...), waitsFor("the current revision cannot be kept as it is")...)
	}
	return troubled(s, texts...)
}

// tells expects the state to be kept and an error to be told that may heal, where anything is written that could meet it.
func tells(texts ...string) func(*stage) expectation {
	return func(s *stage) expectation {
		if s.quiet {
			return expectation{word: unnoticed}
		}
		return expectation{word: told, told: unkept(s, texts...), blocked: true}
	}
}
