package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An operator that ends right after a write, on its way out of the state", Ordered, ContinueOnFailure, func() {
	BeforeAll(func() { DeferCleanup(leaveDepartures) })
	for _, d := range departures {
		for _, w := range ways {
			It(fmt.Sprintf("%s, by %s, ends up where it would have without, and passes no gate: %s", d.state, w.name, d.what), Label("long"), func(ctx SpecContext) {
				d.ends(ctx, w, w.points)
			}, NodeTimeout(4*time.Minute))
		}
	}

	It("Pruning ends up where it would have without, in each way", Label("short"), func(ctx SpecContext) {
		d := departures[slices.IndexFunc(departures, func(d *departure) bool { return d.state == harness.Pruning })]
		for _, w := range ways {
			d.ends(ctx, w, 1)
		}
	}, NodeTimeout(4*time.Minute))
})

func leaveDepartures(ctx SpecContext) {
	replicas.elect = false
	endAll()
	endChecker(ctx)
	env.Registry.SetFault(nil)
	Expect(env.Cluster.ReleasePods(ctx, held)).To(Succeed())
	Expect(env.Cluster.ReleasePods(ctx, heldThree)).To(Succeed())
	at = nil
}

// writes is how many writes an undisturbed departure takes; the end of it is kept.
func (d *departure) writes(ctx context.Context) int {
	GinkgoHelper()
	if d.undisturbed == nil {
		replicas.elect = false
		d.arrives(ctx)
		between.CountWrites()
		d.departs(ctx, make(chan struct{}))
		d.undisturbed, d.count = stateOf(ctx), between.Writes()
		AddReportEntry(fmt.Sprintf("writes of an undisturbed way out of %s", d.state), d.count, ReportEntryVisibilityFailureOrVerbose)
	}
	return d.count
}

// arrives takes the machine into the state, in a world of its own.
func (d *departure) arrives(ctx context.Context) {
	GinkgoHelper()
	d.supply()
	Expect(env.Cluster.ReleasePods(ctx, heldThree)).To(Succeed())
	atGood(ctx)
	d.reach(ctx, d)
	if d.from == 1 { // else the pods of the second release are at work
		Expect(env.Cluster.HoldPods(ctx, held)).To(Succeed())
	}
	Expect(env.Cluster.HoldPods(ctx, heldThree)).To(Succeed())
	between.CountWrites()
}

// departs lets the change happen and opens the gate when the machine is there,
// until the operator has ended or everything is done. It says which.
func (d *departure) departs(ctx context.Context, ended <-chan struct{}) (cut, opened bool) {
	GinkgoHelper()
	d.change(ctx, d)
	opened = d.ungated
	eventually(ctx, "the operator to end, or to be done", func(ctx context.Context) error {
		select {
		case <-ended:
			cut = true
			return nil
		default:
		}
		if !opened && d.atGate(ctx) == nil {
			d.open(ctx)
			opened = true
		}
		v, err := harness.See(ctx, env.Client)
		if err == nil {
			err = d.isDone(v)
		}
		return err
	})
	return cut, opened
}

// ends ends operators after some of the writes on the way. Where one came along
// with fewer than the undisturbed one, an earlier write is taken.
func (d *departure) ends(ctx context.Context, w way, points int) {
	GinkgoHelper()
	for _, n := range sample(points, d.writes(ctx)) {
		for !d.endsAfter(ctx, w, n) {
			Expect(n).To(BeNumerically(">", 1), "nothing was written on the way out of %s", d.state)
			n /= 2
		}
	}
}

// endsAfter ends an operator after its n-th write on the way, and sees another
// one through. It says whether there was an n-th write.
func (d *departure) endsAfter(ctx context.Context, w way, n int) bool {
	GinkgoHelper()
	began := time.Now()
	replicas.elect = w.elects
	d.arrives(ctx)
	arrived, before, leaving := time.Now(), stateOf(ctx), leader(ctx)
	cut, opened := d.departs(ctx, w.after(n, leaving))
	if !cut {
		return false
	}
	w.ends(leaving)
	killPoints.tried(d.state, w.name)
	what := fmt.Sprintf("%s after write %d on the way out of %s", w.name, n, d.state)
	if !opened {
		d.keepsGate(ctx, what)
	}
	endAll()
	startGood()
	if !opened {
		eventually(ctx, "the gate to be reached after "+what, d.atGate)
		for range 2 { // the first may be put right by a pass that is still under way
			next()
			edit(ctx)
			eventually(ctx, "the operator to work after "+what, isRight)
		}
		d.keepsGate(ctx, what)
		d.open(ctx)
	}
	v := until(ctx, "everything to be done after "+what, d.isDone)
	Expect(v.Revisions()[0].Revision).To(Equal(d.to), "a number was left out by "+what)
	eventually(ctx, "the end to be the undisturbed one after "+what, func(ctx context.Context) error {
		state, err := env.State(ctx)
		if err != nil {
			return err
		}
		return errors.Join(differ(state, d.undisturbed), lost(state, before), marked(state, d.to), inventories(ctx, d.to))
	})
	killPoints.converged(d.state, w.name)
	GinkgoWriter.Printf("%s: %s, of which %s to get there\n", what, time.Since(began).Round(time.Millisecond), arrived.Sub(began).Round(time.Millisecond))
	return true
}

// isDone is nil when the new revision is installed, nothing is left of others, and nothing is retained.
func (d *departure) isDone(v harness.View) error {
	return all(harness.Settled(d.to), finished, func(v harness.View) error {
		if mentions(retention)(v) == nil {
			return errors.New("something is retained")
		}
		return nil
	})(v)
}

// atGate is nil when the Deployment is the new revision's, for which all that comes later has to wait.
func (d *departure) atGate(ctx context.Context) error {
	state, err := env.State(ctx)
	if err != nil {
		return err
	}
	if have := state[workerKey].Revision; have != fmt.Sprint(d.to) {
		return fmt.Errorf("the Deployment is of revision %s", have)
	}
	return nil
}

// keepsGate sees that nothing was done that has to wait for the Deployment.
func (d *departure) keepsGate(ctx context.Context, what string) {
	GinkgoHelper()
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	current := v.Revision(v.Current())
	Expect(current).NotTo(BeNil(), "no revision is current after %s", what)
	Expect(current.Revision).To(Equal(d.from), "a gate was passed after %s: a revision is current that is not there yet", what)
	state := stateOf(ctx)
	Expect(state[thingKey].Revision).To(Equal(fmt.Sprint(d.from)), "a gate was passed after %s: %s was written", what, thingKey)
	if d.from == 1 {
		Expect(state).To(HaveKey(goesKey), "a gate was passed after %s: what the current revision has was pruned", what)
	}
}

// open lets the pods become Ready that are waited for.
func (d *departure) open(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Cluster.ReleasePods(ctx, held)).To(Succeed())
	Expect(env.Cluster.ReleasePods(ctx, heldThree)).To(Succeed())
}
