package faults_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// bootStage is a state of the machine bootimage or bootgate, reached and held.
type bootStage struct {
	machine, state string
	// how tells people how the state is reached and held.
	how string
	// reach takes the machine there from where the target is Current, as the next release comes, if it does, and returns what lets go
	// of what holds the state.
	reach func(ctx context.Context, next int) (letGo func())
	// rests says that the next release does not come: the state is kept by itself.
	rests bool
	// writes are the requests of the state's work that faults meet, and disturb has it make them, where it would make none.
	writes  []proxy.Rule
	disturb func(context.Context)
	// does are the writes that the way through the state takes when nothing goes wrong.
	does map[string]int
}

// is is nil when the machine is in a state.
func (s *bootStage) is(ctx context.Context, state string) error {
	if s.machine == "bootgate" {
		return inGate(ctx, state)
	}
	return inBoot(ctx, state)
}

// holds adds a rule that holds requests, and returns what lets go of them.
func holds(rule proxy.Rule) (letGo func()) {
	rule.Fault = proxy.Hang
	return between.Add(rule).End
}

// comes lets the next release come, with a stub.
func comes(ctx context.Context, next int, stub string) {
	GinkgoHelper()
	release(ctx, next, configv1.PartialUpdate)
	eventually(ctx, "the gate to be shut", func(ctx context.Context) error { return inGate(ctx, waitingForRelease) })
	goldenOf(ctx, next, next)
	if stub != bootworld.Stub { // a stub that is put back again and again is left alone, unless somebody asks for more
		starts(ctx, stub)
		patch(ctx, bootSet(), fmt.Sprintf(`{"metadata":{"annotations":{"capi-operator.openshift.io/retry":"%d"}}}`, next))
	}
	release(ctx, next, configv1.CompletedUpdate)
}

// moved is what a move takes.
var moved = map[string]int{"create awsmachinetemplates": 1, "patch machinesets": 1}

var (
	secretIsWritten   = proxy.Rule{Verb: "update", Resource: "secrets"}
	cloneIsMade       = proxy.Rule{Verb: "create", Resource: "awsmachinetemplates"}
	targetIsWritten   = proxy.Rule{Verb: "patch", Resource: "machinesets"}
	recordIsWritten   = proxy.Rule{Verb: "write", Resource: "configmaps"}
	configIsWritten   = proxy.Rule{Verb: "patch", Resource: "machineconfigurations"}
	targetsAreWatched = proxy.Rule{Verb: "watch", Resource: "machinesets", Fault: proxy.Swallow}
)

var bootStages = []*bootStage{
	{
		machine: "bootimage", state: upgradingStub, how: "the next release finds an old stub, and the write of its Secret is not answered",
		reach: func(ctx context.Context, next int) func() {
			GinkgoHelper()
			rule := secretIsWritten
			rule.Fault = proxy.Hang
			held := between.Add(rule)
			comes(ctx, next, bootworld.OldStub)
			isMet(ctx, held, 1) // by then the attempt is stored
			return held.End
		},
		writes: []proxy.Rule{secretIsWritten},
		does:   map[string]int{"update secrets": 1, "create awsmachinetemplates": 1, "patch machinesets": 1},
	},
	{
		machine: "bootimage", state: cloning, how: "the next release has come, and the creation of the clone is not answered",
		reach: func(ctx context.Context, next int) func() {
			GinkgoHelper()
			rule := cloneIsMade
			rule.Fault = proxy.Hang
			held := between.Add(rule)
			comes(ctx, next, bootworld.Stub)
			isMet(ctx, held, 1) // by then the attempt is stored
			return held.End
		},
		writes: []proxy.Rule{cloneIsMade, targetIsWritten}, does: moved,
	},
	{
		machine: "bootimage", state: settling, how: "the next release's image is written, and the watches of targets tell nothing",
		reach: func(ctx context.Context, next int) func() {
			GinkgoHelper()
			restartBoot() // a watch that has been cut again and again comes back late
			eventually(ctx, "the target to be looked at", atRest(next-1))
			silent := between.Add(targetsAreWatched)
			cut := between.CutWatches("machinesets")
			isMet(ctx, silent, cut)
			comes(ctx, next, bootworld.Stub)
			return silent.End
		},
		writes: []proxy.Rule{recordIsWritten}, does: moved,
	},
	{
		machine: "bootimage", state: inCurrent, how: "the target has the image of the release", rests: true,
		reach:  func(context.Context, int) func() { return func() {} },
		writes: []proxy.Rule{targetIsWritten}, disturb: reverts, does: map[string]int{},
	},
	{
		machine: "bootgate", state: waitingForConfig, how: "the spec of the MachineConfiguration is new, the write of its status is not answered, and the next release has come",
		reach: func(ctx context.Context, next int) func() {
			GinkgoHelper()
			letGo := holds(configIsWritten)
			patch(ctx, bootConfiguration(), `{"spec":{"managedBootImages":{"machineManagers":[
			  {"resource":"controlplanemachinesets","apiGroup":"machine.openshift.io","selection":{"mode":"`+otherMode(ctx)+`"}}]}}}`)
			eventually(ctx, "the gate to be shut", func(ctx context.Context) error { return inGate(ctx, waitingForConfig) })
			release(ctx, next, configv1.CompletedUpdate)
			goldenOf(ctx, next, next)
			return letGo
		},
		writes: []proxy.Rule{configIsWritten}, does: moved,
	},
	{
		machine: "bootgate", state: waitingForVoucher, how: "the next release is complete, and the golden ConfigMap is that of the one before",
		reach: func(ctx context.Context, next int) func() {
			release(ctx, next, configv1.CompletedUpdate)
			return func() { goldenOf(ctx, next, next) }
		},
		writes: []proxy.Rule{configIsWritten}, does: moved,
		disturb: func(ctx context.Context) {
			patchStatus(ctx, bootConfiguration(), `{"status":{"managedBootImagesStatus":{"machineManagers":[
			  {"resource":"machinesets","apiGroup":"machine.openshift.io","selection":{"mode":"All"}}]}}}`) // and none for the control plane
		},
	},
}

// otherMode is the one that the ControlPlaneMachineSet is not resolved to.
func otherMode(ctx context.Context) string {
	GinkgoHelper()
	config := &operatorv1.MachineConfiguration{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, config)).To(Succeed())
	for _, m := range config.Status.ManagedBootImagesStatus.MachineManagers {
		if m.Resource == operatorv1.ControlPlaneMachineSets && m.Selection.Mode == operatorv1.All {
			return string(operatorv1.None)
		}
	}
	return string(operatorv1.All)
}

// bootAt is the release at which the suite's target is Current in a world of boot images, 0 without such a world.
var bootAt int

// standBoot has a target Current at a release, and a clone made for it.
func standBoot(ctx context.Context) {
	GinkgoHelper()
	if bootAt > 0 && atRest(bootAt)(ctx) == nil {
		return
	}
	bootAt = 0
	beginBoot(ctx)
	newCache()
	startBoot()
	eventually(ctx, "the first release to be settled", atRest(1))
	comes(ctx, 2, bootworld.Stub)
	eventually(ctx, "the second release to be settled", atRest(2))
	bootAt = 2
}

// reachBoot takes the machine to a stage, and holds it there.
func reachBoot(ctx context.Context, p bootPlace) *bootCell {
	GinkgoHelper()
	standBoot(ctx)
	if p.rests { // another release, so that all attempts are left
		next := bootAt + 1
		bootAt = 0
		comes(ctx, next, bootworld.Stub)
		eventually(ctx, "the target to be at rest, with one clone", func(ctx context.Context) error {
			return errors.Join(atRest(next)(ctx), clonesAreThose(ctx, next))
		})
		bootAt = next
	}
	c := &bootCell{bootStage: p.bootStage, bootExpectation: p.bootExpectation, was: bootAt, number: bootAt}
	if !p.rests {
		c.number++
	}
	bootAt = 0
	var err error
	c.from, err = env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	letGo, held := c.reach(ctx, c.number), true
	c.letGo = func() {
		if held {
			held = false
			letGo()
		}
	}
	c.later(c.letGo)
	eventually(ctx, "the state "+c.state+" to be reached", func(ctx context.Context) error { return c.is(ctx, c.state) })
	return c
}

// promiseOf is nil while the target has the image that gate and state leave it.
func (s *bootStage) promiseOf(c *bootCell) func(context.Context) error {
	return func(ctx context.Context) error {
		if s.state == settling || s.rests {
			return hasImage(ctx, c.number)
		}
		return hasImage(ctx, c.was)
	}
}

// clonesAreThose is nil when there is one clone for the image of a release, and none besides.
func clonesAreThose(ctx context.Context, number int) error {
	clones, err := clonesOf(ctx)
	if err != nil {
		return err
	}
	if len(clones) != 1 || len(clones[bootworld.AMI(number)]) != 1 {
		return errors.Join(fmt.Errorf("there are clones %v, and is to be one of %s", clones, bootworld.AMI(number)), operator().Advance(minute))
	}
	return nil
}
