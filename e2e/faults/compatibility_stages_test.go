package faults_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// The states of the machine compatibility that other machines do not have.
const (
	arming     = "Arming"
	inMet      = "Met"
	inUnmet    = "Unmet"
	inOpen     = "Open"
	refused    = "Refused"
	conflicted = "Conflicted"
	releasing  = "Releasing"
)

// needStage is a state of the machine compatibility, reached and held.
type needStage struct {
	state string
	// how tells people how the state is reached and held.
	how string
	// reach takes the machine there from a world with boxes, an operator and a checker, and no requirement.
	reach func(context.Context)
	// reason is what condition Progressing says while nothing is wrong, and failing what it says while the work meets an error.
	reason, failing string
	// disturb undoes what the state's work keeps, and right is nil when that is put right.
	disturb func(context.Context)
	right   func(context.Context) error
	// promise is nil while API servers refuse what they have to in this state, and nothing else.
	promise func(context.Context) error
	// passing is the state that a disturbance leads to until it is put right; empty for none.
	passing string
	// leads is true of states from which an error that lasts leads to Degraded.
	leads bool
	// severed says that API servers cannot reach the checker from the start on, armed that all they ask for has to be answered.
	severed, armed bool
}

// wanted are the webhooks as they are when a stage is reached.
var wanted string

// asWanted is nil when the webhooks are as they were when the stage was reached.
func asWanted(ctx context.Context) error {
	now, err := hooksOf(ctx)
	if err == nil && now != wanted {
		err = fmt.Errorf("the webhooks are\n%s\nand should be\n%s", now, wanted)
	}
	return err
}

// misdirect has API servers ask about other objects.
func misdirect(ctx context.Context) {
	GinkgoHelper()
	editHooks(ctx, need, &validating{}, func(o *validating) { o.Webhooks[0].Rules[0].Resources = []string{"lids"} })
}

// policed gives the requirement's own webhook a policy.
func policed(to admissionregistrationv1.FailurePolicyType) func(context.Context) {
	return func(ctx context.Context) {
		GinkgoHelper()
		editHooks(ctx, need, &validating{}, func(o *validating) { o.Webhooks[0].FailurePolicy = ptr.To(to) })
	}
}

// require creates the requirement and waits for a state.
func require(ctx context.Context, state string) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, newNeed())).To(Succeed())
	untilNeed(ctx, "the state "+state+" to be reached", inNeed(state))
}

// takeName creates a configuration of somebody else that has the requirement's name.
func takeName(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &validating{ObjectMeta: metav1.ObjectMeta{Name: need}})).To(Succeed())
}

// freeName deletes it.
func freeName(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.Delete(ctx, &validating{ObjectMeta: metav1.ObjectMeta{Name: need}})).To(Succeed())
}

// spoilData gives the requirement data that nobody can use, past the checker.
func spoilData(ctx context.Context) {
	GinkgoHelper()
	past(ctx, func() {
		passes(ctx, "bad data to pass", func(ctx context.Context) error { return giveData(ctx, "{}") })
	})
}

// standStill lets time go by until the machine has given up waiting for progress.
func standStill(ctx context.Context) {
	GinkgoHelper()
	passed := time.Duration(0)
	eventually(ctx, "it to be Degraded", func(ctx context.Context) error {
		v, err := seeNeed(ctx)
		if err == nil {
			err = inNeed(harness.Degraded)(v)
		}
		if err != nil && passed < 10*minute {
			passed += 30 * second
			err = errors.Join(err, operator().Advance(30*second))
		}
		return err
	})
}

// outlast lets the checker be away for longer than what it denies is refused. The time is counted from when the operator sees that;
// what it has counted before, since it has not known the checker for long, ends if time goes by while it does not see it yet.
func outlast(ctx context.Context) {
	GinkgoHelper()
	eventually(ctx, "the absence to be counted, and to be too long", func(ctx context.Context) error {
		v, err := seeNeed(ctx)
		if err != nil || v.record.State == inOpen {
			return err
		}
		if err := v.tells("Record", "Stored", `"lasting":{"CheckerGone"`); err != nil {
			return err
		}
		return errors.Join(errors.New("it is not too long yet"), operator().Advance(4*minute))
	})
}

// outlive lets time go by until the requirement is Open no more: a checker that is back has to stay for a minute.
func outlive(ctx context.Context) {
	GinkgoHelper()
	eventually(ctx, "the outage to be over", func(ctx context.Context) error {
		if stillOpen(ctx) {
			return errors.New("it is Open")
		}
		return nil
	})
}

// stillOpen says that the requirement is Open, and lets some time go by for it if there is an operator.
func stillOpen(ctx context.Context) bool {
	v, err := seeNeed(ctx)
	if err != nil || v.record.State != inOpen {
		return false
	}
	if err := operator().Advance(30 * second); err != nil {
		GinkgoWriter.Println("no time goes by:", err)
	}
	return true
}

var needStages = []*needStage{
	{
		state: inMet, how: "boxes have what the requirement needs", reason: "UpToDate", failing: "TransientError", passing: arming, leads: true, armed: true,
		reach:   func(ctx context.Context) { require(ctx, inMet) },
		disturb: misdirect, right: asWanted, promise: refusesBreaks,
	},
	{
		state: inUnmet, how: "boxes lack a field that the requirement needs", reason: "UpToDate", failing: "TransientError", passing: arming, leads: true, armed: true,
		reach: func(ctx context.Context) {
			Expect(defineBoxes(ctx, lidlessBox)).To(Succeed())
			require(ctx, inUnmet)
		},
		disturb: misdirect, right: asWanted, promise: refusesBreaks,
	},
	{
		state: arming, how: "the checker is ready and cannot be reached", reason: arming, failing: "TransientError", leads: true,
		severed: true, reach: func(ctx context.Context) { require(ctx, arming) },
		disturb: misdirect, right: asWanted, promise: letsPass,
	},
	{
		state: refused, how: "the requirement's data was spoilt past the checker", reason: "ConfigurationError", failing: "ConfigurationError", armed: true,
		reach: func(ctx context.Context) {
			require(ctx, inMet)
			spoilData(ctx)
		},
		disturb: policed(admissionregistrationv1.Ignore), right: asWanted, promise: refusesBreaks,
	},
	{
		state: conflicted, how: "a configuration of somebody else has the requirement's name", reason: "OwnershipConflict", failing: "OwnershipConflict", leads: true, armed: true,
		reach: func(ctx context.Context) {
			takeName(ctx)
			require(ctx, conflicted)
		},
		disturb: func(ctx context.Context) {
			editHooks(ctx, need, &mutating{}, func(o *mutating) { o.Webhooks[0].MatchConditions = nil })
		},
		right: asWanted, promise: func(ctx context.Context) error { return refusal(breaks(ctx)) },
	},
	{
		state: harness.Degraded, how: "the checker could not be reached for five minutes", reason: arming, failing: "TransientError",
		severed: true, reach: func(ctx context.Context) {
			require(ctx, arming)
			standStill(ctx)
		},
		disturb: misdirect, right: asWanted, promise: letsPass,
	},
	{
		state: inOpen, how: "no replica of the checker was ready for 15 minutes", reason: "CheckerUnavailable", failing: "CheckerUnavailable",
		reach: func(ctx context.Context) {
			require(ctx, inMet)
			checking.killReplicas()
			outlast(ctx)
		},
		disturb: policed(admissionregistrationv1.Fail), right: asWanted, promise: letsPass,
	},
	{
		state: releasing, how: "the requirement is being deleted, and somebody's finalizer holds it", reason: arming, failing: "TransientError",
		reach: func(ctx context.Context) {
			require(ctx, inMet)
			o := &requirement{ObjectMeta: metav1.ObjectMeta{Name: need}}
			Expect(env.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(hold)))).To(Succeed())
			Expect(env.Client.Delete(ctx, o)).To(Succeed())
		},
		disturb: func(ctx context.Context) {
			GinkgoHelper()
			r := &requirement{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Name: need}, r)).To(Succeed())
			Expect(client.IgnoreAlreadyExists(env.Client.Create(ctx, &validating{ObjectMeta: metav1.ObjectMeta{
				Name: need, Labels: checkers,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apiextensions.openshift.io/v1alpha1", Kind: "CompatibilityRequirement", Name: need, UID: r.UID}},
			}}, client.FieldOwner("capstan-compatibility")))).To(Succeed())
		},
		right: func(ctx context.Context) error {
			if err := env.Client.Get(ctx, client.ObjectKey{Name: need}, &validating{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the configuration is there (%w)", err)
			}
			return nil
		},
		promise: letsPass,
	},
}

// allFail is nil when configurations are there whose webhooks all refuse without an answer.
func allFail(ctx context.Context, names ...string) error {
	for _, name := range names {
		o := &validating{}
		if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
			return err
		}
		for _, h := range o.Webhooks {
			if ptr.Deref(h.FailurePolicy, "") != admissionregistrationv1.Fail {
				return fmt.Errorf("%s of %s is to be ignored without an answer", h.Name, name)
			}
		}
	}
	return nil
}

// atNeed says on which of these stages the suite stands.
var atNeed *needStage

// rests is the question whether a stage is as it was reached.
func (s *needStage) rests(v needView) error {
	return errors.Join(inNeed(s.state)(v), v.tells("Progressing", s.reason))
}

// reachNeed takes the machine to a stage, unless it is there and has time left.
func reachNeed(ctx context.Context, s *needStage) {
	GinkgoHelper()
	if atNeed == s {
		v, err := seeNeed(ctx)
		inTime := err == nil && (v.record.Deadline == nil || v.record.Deadline.At.Sub(env.Now()) > 3*minute)
		if inTime && s.rests(v) == nil && s.right(ctx) == nil {
			if s.state == refused || s.state == inOpen || s.state == conflicted { // whoever edits one thing again and again in a moment is waited for
				advance(2 * minute)
			}
			return
		}
	}
	prepareNeed(ctx, s)
	s.reach(ctx)
	untilNeed(ctx, "the state "+s.state+" to be reached and held", s.rests)
	eventually(ctx, "what is promised in "+s.state, s.promise)
	if s.armed {
		eventually(ctx, "all to be armed", func(ctx context.Context) error { return allFail(ctx, "capstan-requirements", "capstan-crds") })
	}
	var err error
	wanted, err = hooksOf(ctx)
	Expect(err).NotTo(HaveOccurred())
	atNeed = s
}

// prepareNeed begins a world with boxes, an operator and a checker, and no requirement.
func prepareNeed(ctx context.Context, s *needStage) {
	GinkgoHelper()
	atNeed = nil
	begin(ctx, harness.World{})
	check(ctx, 1)
	checking.Sever(s.severed)
	newCache()
	startGood()
	eventually(ctx, "boxes to be served", func(ctx context.Context) error {
		return errors.Join(defineBoxes(ctx, fittingBox), bigBox(ctx))
	})
	eventually(ctx, "the checker to be ready", checking.replicas[0].Ready)
	if !s.severed {
		eventually(ctx, "requirements to be checked", func(ctx context.Context) error { return allFail(ctx, "capstan-requirements") })
	}
}
