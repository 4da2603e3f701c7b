package bootimage

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/golden"
)

// works are all that there are.
var works = []machine.Action[*Pass]{JudgeTarget, MakePlan, UpgradeStub, TellUpgrade, CloneTemplate, WriteImage, AwaitWrite, ReadStub, ForgetAttempts}

// onGCP is a template on GCP, and what names one.
const onGCP = `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GCPMachineTemplate, metadata: {name: first, namespace: ` + capi + `, uid: of-first},
	spec: {template: {spec: {image: projects/rhcos-cloud/global/images/old, instanceType: small}}}}`

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	var l machinetest.Ledger[*Pass]
	for name, row := range map[string]struct {
		platform configv1.PlatformType
		target   machine.Key
		objects  []string
	}{
		"a MachineSet":              {configv1.AWSPlatformType, setA, []string{onAWS("a", "ami-old"), secretIn(MachineAPINamespace, oldStub)}},
		"those of the control":      {configv1.AWSPlatformType, KeyOf(golden.ControlPlaneMachineSets, "cluster"), []string{controlPlane, secretIn(MachineAPINamespace, newStub)}},
		"a MachineSet of the other": {configv1.AWSPlatformType, capiA, []string{shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, newStub)}},
		"a MachineDeployment": {
			configv1.AWSPlatformType, KeyOf(golden.MachineDeployments, "a"),
			[]string{shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineDeployment", "a", "first"), secretIn(capi, newStub)},
		},
		"another platform": {
			configv1.GCPPlatformType, KeyOf(golden.MachineDeployments, "a"),
			[]string{shop, onGCP, strings.ReplaceAll(ofCAPI("MachineDeployment", "a", "first"), "AWSMachine", "GCPMachine"), secretIn(capi, newStub)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, row.platform, row.objects...)
			for range 3 {
				for _, one := range works[:len(works)-1] {
					c.stands()
					pass, _ := c.sees(row.target)
					if _, err := l.Note(one, c.counter.Written).Run(t.Context(), pass); err != nil {
						t.Fatalf("%s: %v", one.Name, err)
					}
				}
			}
		})
	}
	l.Check(t, false, works...)
}
