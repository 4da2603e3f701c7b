package bootgate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

func TestGate_opens_once_the_configuration_is_resolved_and_the_images_are_remembered(t *testing.T) {
	b := newBench(t, nil, ready()...)
	f, pass := b.look()
	if is := guards.ConfigIsResolved.Answer(f); is.Truth != machine.No || !strings.Contains(is.Reason, "machinesets is not there, and resolves to All") {
		t.Errorf("at first the configuration is %+v", is)
	}
	if v := pass.Verdict(); v.Open || !v.Known || v.Golden != nil || v.Enrols != nil {
		t.Errorf("at first the verdict is %+v", v)
	}
	b.pass(KeepConfig)
	if status := b.config().Status; status.ObservedGeneration != 3 || status.BootImageSkewEnforcementStatus.Automatic.OCPVersion != "4.12.3" {
		t.Errorf("written is %+v", status)
	}
	f, pass = b.look()
	if is := guards.IsOpen(f); is.Truth != machine.No {
		t.Errorf("then it is %+v", is)
	}
	if v := pass.Verdict(); v.Open || !strings.Contains(v.Why, "not among the known ones yet") {
		t.Errorf("before the images are remembered the verdict is %+v", v)
	}
	b.pass(RetireClones)
	v := b.Board.Verdict()
	if !v.Open || !v.Known || v.Why != "" || v.Golden == nil || !v.Ours || v.Cluster.Region != "us-east-1" || v.Cluster.ControlPlaneRollsOut ||
		!slices.Equal(v.Cluster.ControlPlaneArchitectures, []string{"amd64"}) {
		t.Errorf("in the end the verdict is %+v", v)
	}
	if !v.Cluster.Provenance.Knows("ami-1") || v.Cluster.Provenance.Knows("ami-2") {
		t.Error("the golden image, and no other, is known")
	}
	for kind, want := range map[golden.Kind]bool{golden.MachineSets: true, golden.ControlPlaneMachineSets: false, golden.CAPIMachineSets: false, golden.MachineDeployments: false} {
		if by := v.Enrols[kind]; by == nil || by.Selects(nil) != want {
			t.Errorf("%s are enrolled: %v", kind, by)
		}
	}
	if want := []string{"status by application/merge-patch+json cluster", "create capstan-known-images"}; !slices.Equal(b.writes, want) {
		t.Errorf("written was %q", b.writes)
	}
	b.writes = nil
	b.pass(RetireClones)
	if len(b.writes) > 0 || b.Board.Verdict().News != v.News {
		t.Errorf("at rest it writes %q", b.writes)
	}
}

func TestGate_opens_also_while_the_state_that_it_comes_from_cannot_be_left(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.pass(KeepConfig)
	if v := b.Board.Verdict(); !v.Open || !v.Cluster.Provenance.Knows("ami-1") {
		t.Errorf("the verdict is %+v", v)
	}
	shut := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: Version}}
	b.edit(shut, func() { shut.Status.History = history("4.22.2", "4.22.1") })
	next := goldenMap("", "")
	b.edit(next, func() { next.Data["stream"] = stream("ami-2") })
	if b.pass(KeepConfig); slices.Contains(b.writes, "update capstan-known-images") || b.Board.Verdict().Open {
		t.Errorf("images of no release are written: %q", b.writes)
	}
}

func TestGate_knows_new_golden_images_while_the_configuration_cannot_be_written(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.pass(KeepConfig)
	config := configuration()
	b.edit(config, func() { config.Generation++ }) // an edit that resolves to the same
	next := goldenMap("ami-2", "4.22.1")
	b.edit(next, func() { next.Data["stream"] = stream("ami-2") })
	b.refuse = func(what string) error {
		if strings.HasPrefix(what, "status ") {
			return errors.New("you lack the right")
		}
		return nil
	}
	b.now = b.now.Add(every)
	_, pass := b.look()
	if _, err := KeepConfig.Run(t.Context(), pass); err == nil || !strings.Contains(err.Error(), "you lack the right") {
		t.Errorf("it fails with %v", err)
	}
	if _, pass = b.look(); !pass.Verdict().Cluster.Provenance.Knows("ami-2") {
		t.Errorf("the new image is not known: written was %q", b.writes)
	}
}

func TestGate_asks_nobody_for_a_configuration_that_it_has_just_written_and_that_is_gone(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.Live = failing{b.cluster} // the operator lacks the right to get it
	if err := b.cluster.Delete(t.Context(), configuration()); err != nil {
		t.Fatal(err)
	}
	f, _ := b.look()
	if !f.Config.Seen || !f.Config.Absent {
		t.Errorf("seen is %+v", f.Config)
	}
}

func TestGate_a_look_that_fails_shuts_it(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.pass(RetireClones)
	if !b.Board.Verdict().Open {
		t.Fatal("it is not open")
	}
	b.Apart = failing{b.cluster}
	if _, _, err := b.Observe(t.Context(), "cluster"); err == nil {
		t.Error("the look does not fail")
	}
	if v := b.Board.Verdict(); v.Open || v.Known || !strings.Contains(v.Why, "no answer") {
		t.Errorf("the verdict is %+v", v)
	}
}

func TestGate_that_lacks_a_right_says_which_and_heals(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.pass(RetireClones)
	why := "secrets is forbidden: it cannot list them"
	for _, asks := range []func(func() string){func(blind func() string) { b.Blind = blind }, b.Board.OnBlind} {
		b.writes = nil
		asks(func() string { return why })
		f, pass := b.look()
		b.Board.Post(pass.Verdict())
		if v := b.Board.Verdict(); v.Known || v.Open || v.Enrols != nil || !strings.Contains(v.Why, why) || pass.Upgradeable != nil || guards.IsOpen(f).Truth != machine.Unknown {
			t.Errorf("the verdict is %+v", v)
		}
		for _, work := range []machine.Action[*Pass]{KeepConfig, RetireClones} {
			if _, err := work.Run(t.Context(), pass); err == nil || !strings.Contains(err.Error(), why) || len(b.writes) > 0 {
				t.Errorf("%s writes %q and ends with %v", work.Name, b.writes, err)
			}
		}
		asks(func() string { return "" })
		if b.pass(RetireClones); !b.Board.Verdict().Open {
			t.Errorf("in the end the verdict is %+v", b.Board.Verdict())
		}
	}
}

type failing struct{ client.Reader }

func (failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no answer")
}

func TestKnownImages_what_was_golden_stays_known(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.pass(RetireClones)
	b.edit(goldenMap("", ""), func() {})
	next := goldenMap("", "")
	b.edit(next, func() { next.Data["stream"] = stream("ami-2") })
	pass, _ := b.pass(RetireClones)
	if p := pass.cluster().Provenance; !p.Knows("ami-1") || !p.Knows("ami-2") || !pass.Verdict().Open {
		t.Errorf("the verdict is %+v", pass.Verdict())
	}
	if err := b.cluster.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: KnownConfigMap}}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Hour)
	pass, _ = b.pass(RetireClones)
	if p := pass.cluster().Provenance; !p.Knows("ami-1") || !p.Knows("ami-2") {
		t.Error("what somebody has deleted is forgotten")
	}
}

func TestKnownImages_older_ones_are_followed_with_an_Event(t *testing.T) {
	for name, row := range map[string]struct {
		images []string
		before string
		told   int
	}{
		"newer ones":                        {[]string{"ami-2", "ami-3"}, "4.22.0", 0},
		"some that were golden once":        {[]string{"ami-2", "ami-1"}, "4.22.0", 1},
		"others of a release that is older": {[]string{"ami-0"}, "4.22.2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, ready()...)
			b.pass(KeepConfig)
			b.pass(RetireClones)
			version := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: Version}}
			b.edit(version, func() { version.Status.History = history("4.22.1", row.before) })
			for _, image := range row.images {
				next := goldenMap("", "")
				b.edit(next, func() { next.Data["stream"] = stream(image) })
				b.pass(RetireClones)
				b.pass(RetireClones)
			}
			if len(b.told) != row.told || row.told > 0 && (b.told[0].Reason != "OlderBootImages" || b.told[0].About.Kind != "MachineConfiguration") {
				t.Errorf("told is %+v", b.told)
			}
			if !b.Board.Verdict().Open {
				t.Error("they are not followed")
			}
		})
	}
}

func TestKeepConfig_puts_right_what_others_have_edited(t *testing.T) {
	for name, change := range map[string]func(*operatorv1.MachineConfiguration){
		"another mode": func(c *operatorv1.MachineConfiguration) {
			c.Status.ManagedBootImagesStatus.MachineManagers[0].Selection = operatorv1.MachineManagerSelector{
				Mode: operatorv1.Partial, Partial: &operatorv1.PartialSelector{MachineResourceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
			}
		},
		"nothing": func(c *operatorv1.MachineConfiguration) { c.Status = operatorv1.MachineConfigurationStatus{} },
		"another skew": func(c *operatorv1.MachineConfiguration) {
			c.Status.BootImageSkewEnforcementStatus = operatorv1.BootImageSkewEnforcementStatus{Mode: manually, Manual: operatorv1.ClusterBootImageManual{Mode: "OCPVersion", OCPVersion: "4.20.0"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, ready()...)
			b.pass(KeepConfig)
			right := b.config().Status
			edited := configuration()
			b.edit(edited, func() { change(edited) })
			b.now = b.now.Add(every)
			if b.pass(KeepConfig); len(b.configWrites()) != 1 {
				t.Errorf("written was %q", b.writes)
			}
			if got := b.config().Status; !sameConfig(b.config(), &operatorv1.MachineConfiguration{Status: right}) || got.ManagedBootImagesStatus.MachineManagers[0].Selection.Partial != nil {
				t.Errorf("it is %+v, want %+v", got, right)
			}
		})
	}
}

func TestKeepConfig_writes_at_most_every_two_seconds_while_others_edit(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	for _, row := range []struct {
		after, later time.Duration
		writes       int
	}{{0, 2 * time.Second, 0}, {time.Second, time.Second, 0}, {time.Second, 0, 1}} {
		edited := configuration()
		b.edit(edited, func() { edited.Status = operatorv1.MachineConfigurationStatus{} })
		b.now = b.now.Add(row.after)
		if _, result := b.pass(KeepConfig); result.LookAgain != row.later || len(b.writes) != row.writes {
			t.Errorf("after %s it writes %q and looks again in %s", row.after, b.writes, result.LookAgain)
		}
	}
}

func TestMachineConfiguration_that_is_another_by_now_is_not_written(t *testing.T) {
	b := newBench(t, nil, ready()...)
	_, pass := b.look()
	if err := b.cluster.Delete(t.Context(), configuration()); err != nil {
		t.Fatal(err)
	}
	anew := configuration()
	anew.UID = "anew"
	if err := b.cluster.Create(t.Context(), anew); err != nil {
		t.Fatal(err)
	}
	b.edit(anew, func() { anew.Spec.LogLevel = "Debug" })
	if result, err := KeepConfig.Run(t.Context(), pass); err != nil || result.Did != "" || result.LookAgain != again {
		t.Errorf("its work ends with %+v, %v", result, err)
	}
	pass.Targets.Sure = true
	if later, err := b.tellConfig(t.Context(), pass, []Condition{{Type: "A", Reason: machine.AsExpected}}); err != nil || later != again {
		t.Errorf("telling ends with %s, %v", later, err)
	}
	if status := b.config().Status; status.ObservedGeneration != 0 || len(status.Conditions) > 0 {
		t.Errorf("written is %+v", status)
	}
}

func TestConfig_that_is_claimed_is_left_alone(t *testing.T) {
	objects := ready()
	claimed := objects[len(objects)-1]
	claimed.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "machine-config-controller", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", APIVersion: "operator.openshift.io/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:managedBootImagesStatus":{}}}`),
	}})
	b := newBench(t, nil, objects...)
	f, pass := b.look()
	if problem := guards.ConfigHasProblems.Answer(f); problem.Truth != machine.Yes || !strings.Contains(problem.Reason, "field manager machine-config-controller owns") || !strings.Contains(problem.Reason, freeing) {
		t.Errorf("told is %+v", problem)
	}
	if v := pass.Verdict(); v.Ours || v.ClaimedBy != "machine-config-controller" {
		t.Errorf("the verdict is %+v", v)
	}
	b.pass(KeepConfig)
	if len(b.configWrites()) > 0 {
		t.Errorf("written was %q", b.writes)
	}
	if pass.Upgradeable == nil || !pass.Upgradeable.Is {
		t.Errorf("upgradeable is %+v", pass.Upgradeable)
	}
}

func TestConfig_only_of_ClusterAPI_reads_annotations_and_writes_no_status(t *testing.T) {
	objects := ready()
	objects[len(objects)-1].SetAnnotations(map[string]string{MachineSetsAnnotation: "tier=web", MachineDeploymentsAnnotation: "all"})
	b := newBench(t, func(o *Options) { o.MachineAPI = false }, objects...)
	b.pass(RetireClones)
	v := b.Board.Verdict()
	// The MachineSets of Machine API are no targets, and what has taken over from one of them is enrolled with it. What cannot be
	// read enrols nothing.
	if _, twins := v.Enrols[golden.MachineSets]; !v.Open || v.Ours || len(v.Enrols) != 3 || !twins || !v.Enrols[golden.MachineDeployments].RefusesTwins() || !v.Enrols[golden.CAPIMachineSets].Selects(map[string]string{"tier": "web"}) {
		t.Errorf("the verdict is %+v", v)
	}
	if !slices.Equal(b.writes, []string{"create capstan-known-images"}) {
		t.Errorf("written was %q", b.writes)
	}
	f, _ := b.look()
	if problem := guards.ConfigHasProblems.Answer(f); problem.Truth != machine.Yes || !strings.Contains(problem.Reason, MachineDeploymentsAnnotation) {
		t.Errorf("told is %+v", problem)
	}
}
