package bootimage

import (
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// The target of most tests here, of Machine API, and one of Cluster API.
var (
	setA  = KeyOf(golden.MachineSets, "a")
	capiA = KeyOf(golden.CAPIMachineSets, "a")
)

// upgradesStub is what UpgradeStub comes to in a pass of a target.
func (c *cluster) upgradesStub(pass *Pass) (did string, err error) {
	c.t.Helper()
	result, err := UpgradeStub.Run(c.t.Context(), pass)
	return result.Did, err
}

func TestUpgradeStub_says_in_the_Secret_what_was_done_and_when_bound_to_what_was_read(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), secretIn(MachineAPINamespace, oldStub))
	pass := c.plans(setA)
	bound := ""
	c.meddles = func(verb string, o client.Object) error {
		if verb == "update" {
			bound = o.GetResourceVersion()
		}
		return nil
	}
	before := c.secret(MachineAPINamespace)
	if did, err := c.upgradesStub(pass); did == "" || err != nil {
		t.Fatal(did, err)
	}
	after := c.secret(MachineAPINamespace)
	if bound != before.ResourceVersion || string(after.Data["userData"]) != newStub {
		t.Errorf("by a write bound to %q it is %s", bound, after.Data)
	}
	if at := after.Annotations[upgradedAt]; after.Annotations[upgradedTo] != "3.1.0" || at != c.now.Format(time.RFC3339) {
		t.Errorf("it says %v", after.Annotations)
	}
	if len(c.told) != 1 || c.told[0].Reason != "StubUpgraded" || c.told[0].About.UID != "of-a" || !strings.Contains(c.told[0].Text, "2.2.0 to 3.1.0") {
		t.Errorf("told is %v", c.told)
	}
	if text := string(c.kept.by[setA]) + c.told[0].Text; strings.Contains(text, "ignition\"") {
		t.Errorf("what is in the stub is told: %s", text)
	}
}

func TestUpgradeStub_leaves_alone_what_somebody_has_changed_since_it_was_read(t *testing.T) {
	for name, at := range map[string]string{"before the look at it": "", "before the dry run": "patch MachineSet a?", "before the write": "update Secret user-data"} {
		t.Run(name, func(t *testing.T) {
			secret := secretIn(MachineAPINamespace, oldStub)
			c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), secret)
			pass := c.plans(setA)
			others := func() { c.edits(secret, `{data: {userData: `+encoded(`{"ignition":{"version":"2.1.0"}}`)+`}}`) }
			c.meddles = func(string, client.Object) error {
				if c.sent[len(c.sent)-1] == at {
					others()
				}
				return nil
			}
			if at == "" {
				others()
			}
			if did, err := c.upgradesStub(pass); did != "" || err != nil || len(c.told) > 0 {
				t.Errorf("it has done %q, and ends with %v", did, err)
			}
			if text := string(c.secret(MachineAPINamespace).Data["userData"]); !strings.Contains(text, "2.1.0") {
				t.Errorf("the Secret has %s", text)
			}
		})
	}
}

func TestUpgradeStub_fails_for_good_where_the_Secret_is_immutable(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), strings.Replace(secretIn(MachineAPINamespace, oldStub), "{apiVersion", "{immutable: true, apiVersion", 1))
	_, err := c.upgradesStub(c.plans(setA))
	if !isTerminal(err) || !strings.Contains(err.Error(), "Secret openshift-machine-api/user-data has a stub of spec 2.2.0 and is immutable") {
		t.Errorf("it ends with %v", err)
	}
	if len(c.sent) > 0 || len(c.kept.by) > 0 {
		t.Errorf("sent is %q, and stored %q", c.sent, c.kept.by)
	}
}

// A stub that was upgraded for an image that is refused helps nobody, and what is older cannot read it.
func TestUpgradeStub_writes_no_Secret_before_clone_and_edit_were_taken_as_dry_runs(t *testing.T) {
	for name, row := range map[string]struct {
		at     string // the write that is answered
		answer error
		sent   []string
		fails  bool
		final  bool
	}{
		"all is taken":          {sent: []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?", "update Secret user-data"}},
		"the clone is invalid":  {"create", invalid, []string{"create AWSMachineTemplate CLONE?"}, true, true},
		"the clone is refused":  {"create", forbidden, []string{"create AWSMachineTemplate CLONE?"}, true, false},
		"the clone conflicts":   {"create", conflict, []string{"create AWSMachineTemplate CLONE?"}, false, false},
		"the edit is invalid":   {"patch", invalid, []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?"}, true, true},
		"the edit is refused":   {"patch", forbidden, []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?"}, true, false},
		"the edit conflicts":    {"patch", conflict, []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?"}, false, false},
		"there is no such set":  {"patch", errNotFound, []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?"}, false, false},
		"the edit is too slow":  {"patch", slow, []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?"}, true, false},
		"the Secret is invalid": {"update", invalid, []string{"create AWSMachineTemplate CLONE?", "patch MachineSet a?", "update Secret user-data"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, oldStub))
			pass := c.plans(capiA)
			c.meddles = func(verb string, _ client.Object) error {
				if verb == row.at {
					return row.answer
				}
				return nil
			}
			result, err := UpgradeStub.Run(t.Context(), pass)
			if (err != nil) != row.fails || isTerminal(err) != row.final || err == nil && result.LookAgain == 0 {
				t.Errorf("it ends with %v, and is looked at again after %s", err, result.LookAgain)
			}
			for i := range c.sent {
				c.sent[i] = strings.Replace(c.sent[i], pass.Judged.CloneName, "CLONE", 1)
			}
			if !slices.Equal(c.sent, row.sent) {
				t.Errorf("sent is %q", c.sent)
			}
			if sends := strings.HasPrefix(c.sent[len(c.sent)-1], "update"); sends != (len(c.kept.by) == 2) {
				t.Errorf("stored is %q", c.kept.by)
			}
		})
	}
}

func TestUpgradeStub_leaves_the_stub_where_another_template_has_the_name_of_the_clone(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, oldStub))
	c.has(templateOn(c.plans(capiA).Judged.CloneName, "ami-x", "small"))
	pass, _ := c.sees(capiA)
	if _, err := c.upgradesStub(pass); !isTerminal(err) || len(c.sent) > 0 {
		t.Errorf("it ends with %v, and sent is %q", err, c.sent)
	}
}

// Machine API's Secret is the one that others copy, so it is upgraded, and the copy is waited for.
func TestUpgradeStub_of_a_copy_upgrades_the_original_once_and_awaits_the_copy(t *testing.T) {
	original := secretIn(MachineAPINamespace, oldStub)
	c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, oldStub), original)
	pass := c.plans(capiA)
	if ready := guards.StubIsReady.Answer(pass.facts); !strings.Contains(ready.Reason, "until it follows Secret openshift-machine-api/user-data") {
		t.Errorf("it waits for %q", ready.Reason)
	}
	if did, err := c.upgradesStub(pass); err != nil || did != "upgraded the stub in Secret openshift-machine-api/user-data to spec 3.1.0" {
		t.Fatal(did, err)
	}
	writes := len(c.sent)
	// Whoever copies it has not done so yet, and then somebody puts the original back.
	for _, then := range []string{newStub, oldStub} {
		c.edits(original, `{data: {userData: `+encoded(then)+`}}`)
		if pass, _ = c.sees(capiA); string(c.secret(capi).Data["value"]) != oldStub || !pass.writes() {
			t.Fatal("the copy is changed, or the plan does not stand")
		}
		if did, err := c.upgradesStub(pass); did != "" || err != nil || len(c.sent) != writes {
			t.Errorf("it has done %q, and ends with %v", did, err)
		}
	}
	c.edits(secretIn(capi, oldStub), `{data: {value: `+encoded(newStub)+`}}`)
	if pass, _ = c.sees(capiA); guards.StubIsReady.Answer(pass.facts).Truth != machine.Yes {
		t.Errorf("the copy is not ready: %s", guards.StubIsReady.Answer(pass.facts).Reason)
	}
}

func TestUpgradeStub_of_a_copy_leaves_both_where_Machine_API_is_somebody_elses(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, oldStub), secretIn(MachineAPINamespace, oldStub))
	c.MachineAPI = false
	c.posts(func(v *bootboard.Verdict) { v.Ours = false })
	if did, err := c.upgradesStub(c.plans(capiA)); did != "" || err != nil || len(c.sent) > 0 {
		t.Errorf("it has done %q, and ends with %v: %q", did, err, c.sent)
	}
}

// Without Cluster API nobody knows what starts from the copy.
func TestUpgradeStub_with_a_copy_of_which_nobody_looks_after_the_targets_fails_for_good(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), secretIn(MachineAPINamespace, oldStub), secretIn(capi, oldStub))
	c.ClusterAPI = false
	if _, err := c.upgradesStub(c.plans(setA)); !isTerminal(err) || !strings.Contains(err.Error(), "StubShared") || !strings.Contains(err.Error(), capi+"/user-data") || len(c.sent) > 0 {
		t.Errorf("it ends with %v, and sent is %q", err, c.sent)
	}
}

func TestObserve_no_stub_is_an_error_but_for_what_a_bootstrap_provider_makes(t *testing.T) {
	for name, row := range map[string]struct {
		object, change string
		kind           golden.Kind
		ready          string
		says           string
	}{
		"a set of Machine API without": {onAWS("a", "ami-old"), `{spec: {template: {spec: {providerSpec: {value: {userDataSecret: null}}}}}}`, golden.MachineSets, "Unknown", "names no userDataSecret"},
		"one of Cluster API without": {
			ofCAPI("MachineSet", "a", "first"), `{spec: {template: {spec: {bootstrap: {dataSecretName: null}}}}}`, golden.CAPIMachineSets, "Unknown", "names neither",
		},
		"one with a configRef": {
			ofCAPI("MachineSet", "a", "first"), `{spec: {template: {spec: {bootstrap: {dataSecretName: null, configRef: {kind: KubeadmConfigTemplate, name: b}}}}}}`,
			golden.CAPIMachineSets, "Yes", "",
		},
		"one with both": {
			ofCAPI("MachineSet", "a", "first"), `{spec: {template: {spec: {bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: b}}}}}}`, golden.CAPIMachineSets, "No", "spec 2.2.0",
		},
		"a Secret that is not there": {
			ofCAPI("MachineSet", "a", "first"), `{spec: {template: {spec: {bootstrap: {dataSecretName: b}}}}}`, golden.CAPIMachineSets, "Unknown", "looking for Secret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), row.object, secretIn(capi, oldStub))
			c.edits(row.object, row.change)
			pass, f := c.sees(KeyOf(row.kind, "a"))
			if ready := guards.StubIsReady.Answer(f); ready.Truth.String() != row.ready || !strings.Contains(ready.Reason, row.says) {
				t.Errorf("that it is ready is %s: %s", ready.Truth, ready.Reason)
			}
			if _, err := ReadStub.Run(t.Context(), pass); (err != nil) != (row.ready == "Unknown") {
				t.Errorf("reading it ends with %v", err)
			}
		})
	}
}

// Its answer is lost and it was done: people are told once that is seen, and once only.
func TestTellUpgrade_tells_of_an_upgrade_whose_answer_was_lost_if_it_was_done(t *testing.T) {
	for name, row := range map[string]struct {
		done  bool
		after string // what somebody else writes after that
		told  bool
	}{
		"it was done":                             {done: true, told: true},
		"it was not done":                         {},
		"it was not, and somebody has done it":    {after: `{data: {userData: ` + encoded(newStub) + `}}`},
		"it was not, and another operator has it": {after: `{metadata: {annotations: {` + upgradedTo + `: 3.1.0, ` + upgradedAt + `: "2026-01-01T12:00:07Z"}}, data: {userData: ` + encoded(newStub) + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			secret := secretIn(MachineAPINamespace, oldStub)
			c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), secret)
			pass := c.plans(setA)
			c.meddles = func(verb string, _ client.Object) error {
				if verb == "update" && !row.done {
					return errLost
				}
				return nil
			}
			c.loses = func(_ string, o client.Object) bool { _, is := o.(*corev1.Secret); return is }
			if did, err := c.upgradesStub(pass); did != "" || err == nil || len(c.told) > 0 {
				t.Fatal(did, err, c.told)
			}
			if row.after != "" {
				c.edits(secret, row.after)
			}
			for range 2 {
				pass, _ = c.sees(setA)
				if _, err := TellUpgrade.Run(t.Context(), pass); err != nil {
					t.Fatal(err)
				}
			}
			if told := len(c.told) == 1; told != row.told || decodedAttempts(c.kept.by[setA]).Upgraded != told {
				t.Errorf("told is %v, and stored %s", c.told, c.kept.by[setA])
			}
			pass, f := c.sees(setA)
			if said := f.Attempts.StubUpgraded != ""; said != row.told || pass.plan.Upgraded != row.told {
				t.Errorf("a hot loop would name %q", f.Attempts.StubUpgraded)
			}
		})
	}
}
