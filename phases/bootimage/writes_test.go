package bootimage

import (
	"errors"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// works are all that there are.
var works = []machine.Action[*Pass]{JudgeTarget, MakePlan, UpgradeStub, TellUpgrade, CloneTemplate, WriteImage, AwaitWrite, ReadStub, ForgetAttempts}

// onGCP is a template on GCP, and what names one.
const onGCP = `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GCPMachineTemplate, metadata: {name: first, namespace: ` + capi + `, uid: of-first},
	spec: {template: {spec: {image: projects/rhcos-cloud/global/images/old, instanceType: small}}}}`

// step is an action, and what the table has asked before it: the question of the move that leads to its state, or of the move whose
// effect it is.
type step struct {
	does machine.Action[*Pass]
	asks machine.Guard[guards.Facts]
}

// steps are the way of a target through all states with works, until it is opted out. Each is taken as soon as it may be.
var steps = []step{
	{JudgeTarget, guards.Touchable},
	{MakePlan, machine.All(guards.GateIsOpen, machine.Not(guards.IsAsWanted), guards.MayBeWritten, guards.AttemptsLeft)},
	{UpgradeStub, guards.PlanStands},
	{TellUpgrade, machine.All(guards.PlanStands, guards.StubIsReady)},
	{CloneTemplate, machine.All(guards.PlanStands, guards.StubIsReady)},
	{WriteImage, machine.All(guards.PlanStands, guards.StubIsReady, guards.AttemptIsStored, guards.TemplateIsReady)},
	{AwaitWrite, guards.GateIsOpen},
	{ReadStub, machine.All(guards.GateIsOpen, guards.IsAsWanted)},
	{ForgetAttempts, machine.Not(guards.Enrolled)},
}

// goes takes a target through all steps. The state before each is kept until the question of the next one is answered with Yes.
func (c *cluster) goes(l *machinetest.Ledger[*Pass], key machine.Key) {
	c.t.Helper()
	for i, next := range steps {
		for passes := 0; ; passes++ {
			c.stands()
			pass, f := c.sees(key)
			answer := next.asks.Answer(f)
			if answer.Truth == machine.Yes {
				c.notes(l, next.does, pass)
				break
			}
			if i == 0 || passes == 5 {
				c.t.Fatalf("%s is never due: %s", next.does.Name, answer.Reason)
			}
			c.notes(l, steps[i-1].does, pass)
		}
		switch next.does.Name {
		case CloneTemplate.Name:
			c.now = c.now.Add(bootboard.ClaimFor) // the clone is claimed again before it is named
		case ReadStub.Name:
			c.enrols(selects{"set": "none"}, c.Board.Verdict())
		}
	}
}

func (c *cluster) notes(l *machinetest.Ledger[*Pass], does machine.Action[*Pass], pass *Pass) {
	c.t.Helper()
	if _, err := l.Note(does, c.counter.Written).Run(c.t.Context(), pass); err != nil && !errors.Is(err, errLost) {
		c.t.Fatalf("%s: %v", does.Name, err)
	}
}

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	var l machinetest.Ledger[*Pass]
	for name, row := range map[string]struct {
		platform configv1.PlatformType
		target   machine.Key
		objects  []string
		// lost says that the answer to the upgrade of a stub is lost.
		lost bool
	}{
		"a MachineSet":                   {configv1.AWSPlatformType, setA, []string{onAWS("a", "ami-old"), secretIn(MachineAPINamespace, oldStub)}, false},
		"a MachineSet, an answer lost":   {configv1.AWSPlatformType, setA, []string{onAWS("a", "ami-old"), secretIn(MachineAPINamespace, oldStub)}, true},
		"those of the control":           {configv1.AWSPlatformType, KeyOf(golden.ControlPlaneMachineSets, "cluster"), []string{controlPlane, secretIn(MachineAPINamespace, newStub)}, false},
		"a MachineSet of the other":      {configv1.AWSPlatformType, capiA, []string{shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, newStub)}, false},
		"a MachineDeployment of another": {configv1.AWSPlatformType, KeyOf(golden.MachineDeployments, "a"), []string{shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineDeployment", "a", "first"), secretIn(capi, newStub)}, false},
		"another platform": {
			configv1.GCPPlatformType, KeyOf(golden.MachineDeployments, "a"),
			[]string{shop, onGCP, strings.ReplaceAll(ofCAPI("MachineDeployment", "a", "first"), "AWSMachine", "GCPMachine"), secretIn(capi, newStub)},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, row.platform, row.objects...)
			if kind, name, _ := strings.Cut(string(row.target), "/"); kind == string(golden.MachineDeployments) {
				c.edits(row.objects[2], `{metadata: {name: `+name+`, annotations: {capi-operator.openshift.io/boot-image-allow-rollout: "true"}}}`)
			}
			c.loses = func(_ string, o client.Object) bool {
				_, is := o.(*corev1.Secret)
				return is && row.lost
			}
			c.goes(&l, row.target)
		})
	}
	l.Whole(t, "../../docs/state-diagrams/bootimage.md", works...)
}
