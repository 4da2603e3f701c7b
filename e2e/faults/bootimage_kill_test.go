package faults_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// bootChange is something that happens to boot images, and after every write of which the operator is killed once.
type bootChange struct {
	what string
	// from says where the target is before, for the report; empty for a world in which no operator was yet.
	from string
	// change is what happens as the next release comes, if it does.
	change func(ctx context.Context, next int)
	rests  bool
	// does are the writes that it takes.
	does map[string]int
	// made is how many attempts are stored when nobody kills the operator.
	made int
}

var bootChanges = []*bootChange{
	{
		what: "the operator begins", change: func(context.Context, int) {}, rests: true, does: map[string]int{},
	},
	{
		what: "a release comes, the stub is old, and a clone is left over", from: inCurrent, made: 1,
		change: func(ctx context.Context, next int) { comes(ctx, next, bootworld.OldStub) },
		does:   map[string]int{"update secrets": 1, "create awsmachinetemplates": 1, "patch machinesets": 1},
	},
	{
		what: "somebody gives the target its first template back", from: inCurrent, made: 2, rests: true,
		change: func(ctx context.Context, _ int) { reverts(ctx) },
		does:   map[string]int{"patch machinesets": 1},
	},
}

var _ = Describe("An operator that is killed right after a write for boot images, and started again, ends up where it would have without:", Ordered, ContinueOnFailure, func() {
	AfterAll(leaveBoot)
	for _, d := range bootChanges {
		It(d.what+", whichever write it was", Label("long"), func(ctx SpecContext) {
			for n := 1; d.killedAfter(ctx, n); n++ {
				AddReportEntry("kill points when "+d.what, n, ReportEntryVisibilityNever)
			}
		}, NodeTimeout(20*time.Minute))
	}

	It(bootChanges[1].what+", for two of the writes", Label("long"), func(ctx SpecContext) {
		d := bootChanges[1]
		for _, n := range sample(2, d.undisturbed(ctx)) {
			d.killedAfter(ctx, n)
		}
	}, NodeTimeout(3*time.Minute))
})

// begins has the world as it is before the change, and returns the release at which it ends.
func (d *bootChange) begins(ctx context.Context) (number int, from cluster.Mark) {
	GinkgoHelper()
	number = 1
	if d.from == "" {
		bootAt = 0
		beginBoot(ctx)
	} else {
		standBoot(ctx)
		number = bootAt
	}
	if d.from != "" && d.rests { // so that there are attempts left, whatever came before
		number++
		comes(ctx, number, bootworld.Stub)
	}
	if d.from != "" {
		eventually(ctx, "the target to be at rest, with one clone", d.isDone(number))
	}
	if !d.rests {
		number++
	}
	bootAt = 0
	from, err := env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return number, from
}

// isDone is nil when all is as it is in the end.
func (d *bootChange) isDone(number int) func(context.Context) error {
	return func(ctx context.Context) error {
		err := atRest(number)(ctx)
		if err == nil && d.from != "" {
			err = clonesAreThose(ctx, number)
		}
		return err
	}
}

// undisturbed is how many writes the change takes when nobody kills the operator.
func (d *bootChange) undisturbed(ctx context.Context) int {
	GinkgoHelper()
	number, from := d.begins(ctx)
	between.CountWrites()
	d.change(ctx, number)
	eventually(ctx, "the undisturbed change to be done", d.isDone(number))
	d.ends(ctx, "undisturbed", number, from, 0)
	bootAt = number
	AddReportEntry("writes when "+d.what, between.Writes(), ReportEntryVisibilityFailureOrVerbose)
	return between.Writes()
}

// ends sees that what was written is what had to be.
func (d *bootChange) ends(ctx context.Context, what string, number int, from cluster.Mark, more int) {
	GinkgoHelper()
	writes, all, err := taken(ctx, from)
	Expect(err).NotTo(HaveOccurred())
	for _, kind := range []string{"update secrets", "create awsmachinetemplates", "patch machinesets"} {
		if d.rests && kind == "create awsmachinetemplates" {
			continue // while nothing names the clone it may be retired, and made anew
		}
		Expect(writes[kind]).To(Equal(d.does[kind]), "%s, %s: %s", what, kind, all)
	}
	made, err := attemptsOf(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(made).To(BeNumerically("<=", d.made+more), what+": attempts")
	Expect(made).To(BeNumerically(">=", min(1, d.made)), what+": attempts")
	Expect(knows(ctx, number)).To(Succeed(), what)
}

// knows is nil when an image is among those that were ever golden.
func knows(ctx context.Context, number int) error {
	known := &corev1.ConfigMap{}
	if err := env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-known-images"}, known); err != nil {
		return err
	}
	for _, images := range known.Data {
		if strings.Contains(images, bootworld.AMI(number)) {
			return nil
		}
	}
	return fmt.Errorf("%s is not known", bootworld.AMI(number))
}

// killedAfter kills the operator after its n-th write for the change, and sees another one through. It says whether there was an
// n-th write before all was done.
func (d *bootChange) killedAfter(ctx context.Context, n int) bool {
	GinkgoHelper()
	number, from := d.begins(ctx)
	what := fmt.Sprintf("the operator was killed after write %d when %s", n, d.what)
	ready := make(chan struct{})
	killed := between.EndAfter(n, func() {
		<-ready
		operator().Kill()
	})
	if d.from == "" {
		newCache()
		startBoot()
	}
	close(ready)
	d.change(ctx, number)
	cut := false
	eventually(ctx, "the operator to be killed, or to be done", func(ctx context.Context) error {
		select {
		case <-killed:
			cut = true
			return nil
		default:
		}
		if between.Writes() >= n {
			return errors.New("it is being killed")
		}
		return d.isDone(number)(ctx)
	})
	if !cut {
		between.CountWrites() // whatever is written from now on, nobody is killed for it
		select {
		case <-killed:
			endAll()
			startBoot()
		default:
		}
		if d.from != "" {
			bootAt = number
		}
		return false
	}
	killPoints.tried(d.from+" of bootimage", sigkill)
	endAll()
	startBoot()
	eventually(ctx, what+", and another one to be done", d.isDone(number))
	d.ends(ctx, what, number, from, 1)
	killPoints.converged(d.from+" of bootimage", sigkill)
	if d.from != "" {
		bootAt = number
	}
	return true
}
