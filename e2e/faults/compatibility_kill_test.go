package faults_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// needChange is something that happens to a requirement, and after every write of which the operator is killed once.
type needChange struct {
	what string
	// from is where the machine is before, and to where it ends.
	from, to string
	// change is what happens.
	change func(context.Context)
	// promise is nil at every moment, and ends at the end.
	promise, ends func(context.Context) error
}

var needChanges = []*needChange{
	{
		what: "a requirement is made", from: "", to: inMet, promise: anything, ends: refusesBreaks,
		change: func(ctx context.Context) { Expect(env.Client.Create(ctx, newNeed())).To(Succeed()) },
	},
	{
		what: "its webhook is edited", from: inMet, to: inMet, ends: refusesBreaks,
		promise: func(ctx context.Context) error { return refusal(breaks(ctx)) }, change: misdirect,
	},
	{
		what: "it is to warn of objects, and not to refuse them", from: inMet, to: inMet,
		promise: func(ctx context.Context) error { return refusal(breaks(ctx)) },
		ends:    func(ctx context.Context) error { return errors.Join(refusal(breaks(ctx)), bigBox(ctx)) },
		change: func(ctx context.Context) {
			GinkgoHelper()
			Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
				r := &requirement{}
				if err := env.Client.Get(ctx, client.ObjectKey{Name: need}, r); err != nil {
					return err
				}
				r.Spec.ObjectSchemaValidation.Action = requirementsv1alpha1.CRDAdmitActionWarn
				return env.Client.Update(ctx, r)
			})).To(Succeed())
		},
	},
	{
		what: "its data is mended", from: refused, to: inMet, promise: refusesBreaks, ends: refusesBreaks,
		change: func(ctx context.Context) { Expect(giveData(ctx, boxDefinition(neededBox))).To(Succeed()) },
	},
	{
		what: "the checker comes back", from: inOpen, to: inMet, promise: anything, ends: refusesBreaks,
		change: func(_ context.Context) { checking.another() },
	},
	{
		what: "it is deleted, and somebody's finalizer holds it", from: inMet, to: releasing, promise: letsPass, ends: letsPass,
		change: func(ctx context.Context) {
			GinkgoHelper()
			o := newNeed()
			Expect(env.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(hold)))).To(Succeed())
			Expect(env.Client.Delete(ctx, o)).To(Succeed())
		},
	},
}

var _ = Describe("An operator that is killed right after a write for a requirement, and started again, ends up where it would have without:", Ordered, ContinueOnFailure, func() {
	AfterAll(func(ctx SpecContext) {
		leaveMatrix(ctx)
		atNeed = nil
	})
	for _, d := range needChanges {
		It(d.what+", whichever write it was", Label("long"), func(ctx SpecContext) {
			undisturbed, _ := d.undisturbed(ctx)
			for n := 1; d.killedAfter(ctx, n, undisturbed); n++ {
				AddReportEntry("kill points when "+d.what, n, ReportEntryVisibilityNever)
			}
		}, NodeTimeout(20*time.Minute))
	}

	It(needChanges[0].what, Label("short"), func(ctx SpecContext) {
		d := needChanges[0]
		undisturbed, writes := d.undisturbed(ctx)
		for _, n := range sample(2, writes) {
			d.killedAfter(ctx, n, undisturbed)
		}
	}, NodeTimeout(3*time.Minute))
})

// checkerAddress is where the checker listens, which differs from world to world.
var checkerAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// arrives takes the machine to where the change happens.
func (d *needChange) arrives(ctx context.Context) {
	GinkgoHelper()
	stage := &needStage{state: d.from, armed: true, promise: anything, reason: "UpToDate", reach: func(context.Context) {}}
	for _, s := range needStages {
		if s.state == d.from {
			stage = s
		}
	}
	atNeed = nil
	if d.from == "" {
		prepareNeed(ctx, stage)
		return
	}
	reachNeed(ctx, stage)
}

// undisturbed are the webhooks after the change when nobody kills the operator, and how many writes that takes.
func (d *needChange) undisturbed(ctx context.Context) (hooks string, writes int) {
	GinkgoHelper()
	d.arrives(ctx)
	between.CountWrites()
	d.change(ctx)
	d.isDone(ctx, "the undisturbed change to be done")
	writes = between.Writes()
	eventually(ctx, "the webhooks to stand", func(ctx context.Context) (err error) {
		before := hooks
		if hooks, err = d.hooks(ctx); err == nil && before != hooks {
			err = errors.New("they change")
		}
		return err
	})
	AddReportEntry("writes when "+d.what, writes, ReportEntryVisibilityFailureOrVerbose)
	return hooks, writes
}

// isDone waits for the end of the change.
func (d *needChange) isDone(ctx context.Context, what string) {
	GinkgoHelper()
	if d.from == inOpen {
		outlive(ctx)
	}
	untilNeed(ctx, what, inNeed(d.to))
	eventually(ctx, what, d.ends)
	eventually(ctx, what, func(ctx context.Context) error { return allFail(ctx, "capstan-requirements", "capstan-crds") })
}

// hooks are the webhooks, whichever requirement of the name they are for.
func (d *needChange) hooks(ctx context.Context) (string, error) {
	v, err := seeNeed(ctx)
	if err != nil {
		return "", err
	}
	hooks, err := hooksOf(ctx)
	return checkerAddress.ReplaceAllString(strings.ReplaceAll(hooks, string(v.UID), "UID"), "checker"), err
}

// killedAfter kills the operator after its n-th write for the change, and sees another one through. It says whether there
// was an n-th write before all was done.
func (d *needChange) killedAfter(ctx context.Context, n int, undisturbed string) bool {
	GinkgoHelper()
	d.arrives(ctx)
	what := fmt.Sprintf("the operator was killed after write %d when %s", n, d.what)
	killed := between.EndAfter(n, operator().Kill)
	d.change(ctx)
	cut := false
	eventually(ctx, "the operator to be killed, or to be done", func(ctx context.Context) error {
		select {
		case <-killed:
			cut = true
			return nil
		default:
		}
		if d.from == inOpen && stillOpen(ctx) {
			return errors.New("it is Open")
		}
		v, err := seeNeed(ctx)
		if err == nil {
			err = errors.Join(inNeed(d.to)(v), d.ends(ctx), allFail(ctx, "capstan-requirements", "capstan-crds"))
		}
		if hooks, failed := d.hooks(ctx); err == nil && hooks != undisturbed {
			err = errors.Join(errors.New("the webhooks are not as undisturbed"), failed)
		}
		return err
	})
	if !cut {
		return false
	}
	killPoints.tried(d.from+" of compatibility", sigkill)
	Expect(d.promise(ctx)).To(Succeed(), what)
	endAll()
	startGood()
	d.isDone(ctx, what+", and another one to be done")
	eventually(ctx, what+", and the webhooks to be the undisturbed ones", func(ctx context.Context) error {
		now, err := d.hooks(ctx)
		if err == nil && now != undisturbed {
			err = fmt.Errorf("they are\n%s\nand should be\n%s", now, undisturbed)
		}
		return err
	})
	if d.to == inMet {
		misdirect(ctx)
		eventually(ctx, what+", and another one to work", func(ctx context.Context) error {
			now, err := d.hooks(ctx)
			if err == nil && now != undisturbed {
				err = errors.New("what was edited is not put right")
			}
			return err
		})
	}
	killPoints.converged(d.from+" of compatibility", sigkill)
	return true
}
