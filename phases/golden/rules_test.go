package golden_test

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machine/v1"

	"github.com/capstan-capi/capstan/phases/golden"
)

const allow = "capi-operator.openshift.io/boot-image-allow-rollout"

func TestArchitecture(t *testing.T) {
	g := read(t, made())
	x86, arm64 := "ami-new-x86_64", "ami-new-aarch64"
	for name, c := range map[string]struct {
		annotation string // "-" for none
		nodes      []string
		multi      bool
		outcome    golden.Outcome
		want       string // image, or reason
	}{
		"annotated":                     {"kubernetes.io/arch=arm64", []string{"amd64"}, false, golden.Outdated, arm64},
		"annotated among others":        {"a=b, kubernetes.io/arch=amd64 ,topology.kubernetes.io/zone=z", nil, true, golden.Outdated, x86},
		"annotated twice":               {"kubernetes.io/arch=arm64,kubernetes.io/arch=arm64", nil, false, golden.Outdated, arm64},
		"one of two is valid":           {"kubernetes.io/arch=mips,kubernetes.io/arch=arm64", nil, false, golden.Outdated, arm64},
		"two that differ":               {"kubernetes.io/arch=amd64,kubernetes.io/arch=arm64", nil, false, golden.Invalid, ""},
		"none valid":                    {"kubernetes.io/arch=x86_64", []string{"amd64"}, false, golden.Invalid, ""},
		"others only":                   {"a=b", []string{"amd64"}, false, golden.Invalid, ""},
		"empty":                         {"", []string{"amd64"}, false, golden.Invalid, ""},
		"one that ends like it":         {"beta.kubernetes.io/arch=amd64", []string{"amd64"}, false, golden.Invalid, ""},
		"as the Nodes":                  {"-", []string{"arm64", "arm64", "arm64"}, false, golden.Outdated, arm64},
		"Nodes that differ":             {"-", []string{"arm64", "amd64"}, false, golden.Skipped, string(golden.ArchUnknown)},
		"no Nodes":                      {"-", nil, false, golden.Skipped, string(golden.ArchUnknown)},
		"odd Nodes":                     {"-", []string{"riscv64"}, false, golden.Skipped, string(golden.ArchUnknown)},
		"a payload with all":            {"-", []string{"amd64"}, true, golden.Skipped, string(golden.ArchUnknown)},
		"annotated, a payload with all": {"kubernetes.io/arch=amd64", []string{"arm64"}, true, golden.Outdated, x86},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, set := on(configv1.AWSPlatformType), machineSet(`{"ami": {"id": "ami-old"}}`)
			cluster.ControlPlaneArchitectures, cluster.MultiPayload = c.nodes, c.multi
			if c.annotation != "-" {
				set.Annotations = annotated(golden.ArchAnnotation, c.annotation)
			}
			verdict := g.Judge(cluster, golden.FromMachineSet(set))
			if verdict.Outcome != c.outcome || c.want != "" && verdict.Wanted+string(verdict.Reason) != c.want {
				t.Errorf("%+v", verdict)
			}
		})
	}
}

func TestArchitecture_of_the_control_plane_is_its_Nodes(t *testing.T) {
	g, cluster := read(t, made()), on(configv1.AWSPlatformType)
	cluster.MultiPayload = true
	set := controlPlane(`{"ami": {"id": "ami-old"}}`, machinev1.RollingUpdate)
	set.Annotations = annotated(golden.ArchAnnotation, "kubernetes.io/arch=mips")
	if verdict := g.Judge(cluster, golden.FromControlPlane(set)); verdict.Outcome != golden.Outdated || verdict.Wanted != "ami-new-x86_64" {
		t.Errorf("%+v", verdict)
	}
	cluster.ControlPlaneArchitectures = []string{"amd64", "arm64"}
	if verdict := g.Judge(cluster, golden.FromControlPlane(set)); verdict.Reason != golden.ArchUnknown {
		t.Errorf("%+v", verdict)
	}
}

func TestRollout_of_a_control_plane(t *testing.T) {
	g := read(t, made())
	for name, c := range map[string]struct {
		rolls    bool
		strategy machinev1.ControlPlaneMachineSetStrategyType
		allowed  string
		ami      string
		want     string // outcome, and the operations but for the provider spec's
	}{
		"a release that replaces none": {false, "RollingUpdate", "", "ami-old", "Outdated test/metadata/uid"},
		"RollingUpdate":                {true, "RollingUpdate", "", "ami-old", "SkippedWouldRollOut"},
		"no strategy":                  {true, "", "", "ami-old", "SkippedWouldRollOut"},
		"not quite allowed":            {true, "RollingUpdate", "yes", "ami-old", "SkippedWouldRollOut"},
		"allowed":                      {true, "RollingUpdate", "true", "ami-old", "Outdated test/metadata/uid test/metadata/annotations/capi-operator.openshift.io~1boot-image-allow-rollout"},
		"OnDelete":                     {true, "OnDelete", "", "ami-old", "Outdated test/metadata/uid test/spec/strategy/type"},
		"as wanted":                    {true, "RollingUpdate", "", "ami-new-x86_64", "AsWanted"},
		"foreign":                      {true, "RollingUpdate", "", "ami-mine", "SkippedForeign"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, set := on(configv1.AWSPlatformType), controlPlane(`{"ami": {"id": "`+c.ami+`"}}`, c.strategy)
			cluster.ControlPlaneRollsOut = c.rolls
			if c.allowed != "" {
				set.Annotations = annotated(allow, c.allowed)
			}
			verdict := g.Judge(cluster, golden.FromControlPlane(set))
			got := string(verdict.Outcome) + string(verdict.Reason)
			for _, operation := range verdict.Patch {
				if !strings.Contains(operation.Path, "providerSpec") {
					got += " " + operation.Op + operation.Path
				}
			}
			if got != c.want {
				t.Errorf("%s: %+v", got, verdict)
			}
			if verdict.Patch == nil {
				return
			}
			after, err := apply(t, set, verdict.Patch)
			if err != nil {
				t.Fatal(err)
			}
			moved := decode[machinev1.ControlPlaneMachineSet](t, after)
			if verdict := g.Judge(cluster, golden.FromControlPlane(moved)); verdict.Outcome != golden.AsWanted {
				t.Errorf("%+v", verdict)
			}
			moved.Spec.Strategy.Type, moved.Annotations = "RollingUpdate", nil
			moved.Spec.Template = set.Spec.Template
			if _, err := apply(t, moved, verdict.Patch); (err != nil) != c.rolls {
				t.Errorf("what allowed it is gone: %v", err)
			}
		})
	}
}

func TestRollout_of_a_deployment(t *testing.T) {
	g := read(t, made())
	for name, c := range map[string]struct {
		strategy, annotations string
		reason                golden.Reason
	}{
		"no strategy":   {`{}`, `{}`, golden.WouldRollOut},
		"RollingUpdate": {`{"strategy": {"type": "RollingUpdate"}}`, `{}`, golden.WouldRollOut},
		"odd":           {`{"strategy": {"type": 3}}`, `{}`, golden.WouldRollOut},
		"OnDelete":      {`{"strategy": {"type": "OnDelete"}}`, `{}`, ""},
		"allowed":       {`{}`, `{"` + allow + `": "true"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			object := parsed(t, `{"metadata": {"name": "worker", "uid": "u-4", "annotations": `+c.annotations+`}, "spec": {"rollout": `+c.strategy+`, "template": {"spec":
				{"infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate", "name": "first"}}}}}`)
			target := golden.FromClusterAPI(golden.MachineDeployments, object, template(t, awsTemplate, `{"ami": {"id": "ami-old"}}`))
			verdict := g.Judge(on(configv1.AWSPlatformType), target)
			if verdict.Reason != c.reason || (verdict.Outcome == golden.Outdated) != (c.reason == "") {
				t.Fatalf("%+v", verdict)
			}
			if c.reason == "" {
				if _, err := apply(t, object, verdict.Patch); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRemedies_are_commands_that_do_no_harm(t *testing.T) {
	g := read(t, made())
	of := func(ami string) golden.Verdict {
		return g.Judge(on(configv1.AWSPlatformType), golden.FromMachineSet(machineSet(`{"ami": {"id": "`+ami+`"}}`)))
	}
	want := "oc annotate -n openshift-machine-api machinesets.machine.openshift.io worker-a --overwrite 'capi-operator.openshift.io/boot-image-adopt=ami-mine'"
	if got := of("ami-mine").Remedy; got != want {
		t.Error(got)
	}
	for _, ami := range []string{"ami'; rm -rf /; '", "ami-$(reboot)", `ami\\n`, "ami-ö", strings.Repeat("a", 5000)} {
		verdict := of(ami)
		if verdict.Reason != golden.Foreign || strings.Contains(verdict.Remedy, "oc ") || len(verdict.Message) > 1024 {
			t.Errorf("%+v", verdict)
		}
	}
}

func TestCounted(t *testing.T) {
	for reason, want := range map[golden.Reason]bool{
		golden.NoImageID: true, golden.NoImageHere: true, golden.Foreign: true, golden.NeedsVCenter: true, golden.ImageFamily: true, golden.EKSLookup: true,
		golden.Unsupported: true, golden.ArchUnknown: true, golden.WouldRollOut: true, golden.UnsupportedArch: false, golden.SecurityType: false,
	} {
		verdict := golden.Verdict{Outcome: golden.Skipped, Reason: reason}
		if verdict.Counted() != want {
			t.Errorf("%s: %v", reason, !want)
		}
	}
	if failed := (golden.Verdict{Outcome: golden.Invalid}); failed.Counted() {
		t.Error("what is invalid is not skipped")
	}
}
