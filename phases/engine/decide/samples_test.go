package decide

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

const (
	testOwner   = "clusterapi/cluster"
	testManager = "capstan"
	testNumber  = 7
)

var (
	testUs    = Identity{Owner: testOwner, FieldManager: testManager, Legacy: []string{"old-installer"}}
	testStamp = testUs.Stamp("core", testNumber)
)

// sample is one of [objects.Samples], with its manifest made ready.
type sample struct {
	desired                  Desired
	created, applied, edited *unstructured.Unstructured
}

func samples(t *testing.T) map[string]sample {
	t.Helper()
	all := map[string]sample{}
	for name, s := range objects.Samples(t) {
		m := manifestOf(s.Manifest)
		if m.Fault != (Fault{}) {
			t.Fatal(m.Fault)
		}
		all[name] = sample{m.Desired(testStamp), s.Created, s.Applied, s.Edited}
	}
	return all
}

// folded is the object after the server took our patch.
func folded(t *testing.T, actual, payload *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	raw, err := MigrateFields(actual, payload, testUs)
	if err != nil || raw == nil {
		t.Fatalf("fold gave %q, %v", raw, err)
	}
	var patch []struct {
		Path  string
		Value json.RawMessage
	}
	if err := json.Unmarshal(raw, &patch); err != nil {
		t.Fatal(err)
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(patch[0].Value, &entries); err != nil {
		t.Fatal(err)
	}
	out := actual.DeepCopy()
	out.SetManagedFields(entries)
	return out
}

func TestSamples_what_was_applied_is_idle(t *testing.T) {
	for name, s := range samples(t) {
		if v := Reconcile(s.desired, s.applied, testNumber, testUs); v.Action != Idle || v.Migrate || !v.Claimed {
			t.Errorf("%s: %s: %s", name, v.Action, v.Why)
		}
	}
}

func TestSamples_a_creation_has_to_be_recorded_and_is_idle_then(t *testing.T) {
	for name, s := range samples(t) {
		hooks, _ := s.created.Object["webhooks"].([]any)
		for _, hook := range hooks { // the creation of a webhook is recorded when it can be called
			_ = unstructured.SetNestedField(hook.(map[string]any), "eA==", "clientConfig", "caBundle")
		}
		v := Reconcile(s.desired, s.created, testNumber, testUs)
		if v.Action != Updated || !v.Migrate || v.Force {
			t.Errorf("%s: after the create: %s: %s", name, v.Action, v.Why)
		}
		recorded := folded(t, s.created, s.desired.Payload)
		if v := Reconcile(s.desired, recorded, testNumber, testUs); v.Action != Idle {
			t.Errorf("%s: after it was recorded: %s: %s", name, v.Action, v.Why)
		}
		// What we record ourselves is what the server itself books on an apply.
		ours, theirs := ownershipOf(recorded, testUs).applied, ownershipOf(s.applied, testUs).applied
		if !ours.Equals(theirs) {
			t.Errorf("%s: recorded %s\nbut an apply books %s", name, ours, theirs)
		}
	}
}

func TestSamples_an_edit_by_somebody_else_is_recovered_and_names_them(t *testing.T) {
	for name, s := range samples(t) {
		v := Reconcile(s.desired, s.edited, testNumber, testUs)
		if v.Action != Recovered || !v.Force || !strings.Contains(v.Why, "kubectl-edit") {
			t.Errorf("%s: %s: %s", name, v.Action, v.Why)
		}
	}
}

func TestSamples_wiped_managed_fields_are_recovered_whatever_the_values(t *testing.T) {
	for name, s := range samples(t) {
		for stage, obj := range map[string]*unstructured.Unstructured{"applied": s.applied, "edited": s.edited} {
			wiped := obj.DeepCopy()
			wiped.SetManagedFields(nil)
			v := Reconcile(s.desired, wiped, testNumber, testUs)
			if v.Action != Recovered || !v.Force {
				t.Errorf("%s: %s: %s: %s", name, stage, v.Action, v.Why)
			}
			// By value alone nobody can tell an empty selector from one that somebody filled.
			if differs := strings.Contains(v.Why, "differs"); differs != (stage == "edited") && name != "networkpolicy" {
				t.Errorf("%s: %s: %s", name, stage, v.Why)
			}
		}
	}
}

func TestSamples_an_older_revision_is_raised_and_a_newer_one_left_alone(t *testing.T) {
	for name, s := range samples(t) {
		if v := Reconcile(s.desired, s.applied, testNumber+1, testUs); v.Action != Updated || v.Claimed || v.Force || !v.OnlyNumber {
			t.Errorf("%s: to a newer revision: %s: %s", name, v.Action, v.Why)
		}
		if v := Reconcile(s.desired, s.applied, testNumber-1, testUs); v.Action != Progressed {
			t.Errorf("%s: to an older revision: %s: %s", name, v.Action, v.Why)
		}
	}
}

func TestSamples_a_dropped_field_is_removed_under_the_same_number(t *testing.T) {
	s := samples(t)["deployment"]
	manifest := s.desired.Payload.DeepCopy()
	unstructured.RemoveNestedField(manifest.Object, "spec", "template", "spec", "volumes")
	v := Reconcile(Desired{Manifest: s.desired.Manifest, Payload: manifest}, s.applied, testNumber, testUs)
	if v.Action != Updated || v.Force || !strings.Contains(v.Why, "volumes") {
		t.Errorf("%s: %s", v.Action, v.Why)
	}
	if v := Reconcile(Desired{Manifest: s.desired.Manifest, Payload: manifest}, s.applied, testNumber+1, testUs); v.OnlyNumber {
		t.Error("in the next revision it counts as changed in nothing but its number")
	}
}

func TestSamples_an_added_field_that_nobody_holds_needs_no_force(t *testing.T) {
	s := samples(t)["deployment"]
	manifest := s.desired.Payload.DeepCopy()
	if err := unstructured.SetNestedField(manifest.Object, int64(5), "spec", "minReadySeconds"); err != nil {
		t.Fatal(err)
	}
	if v := Reconcile(Desired{Manifest: s.desired.Manifest, Payload: manifest}, s.applied, testNumber, testUs); v.Action != Updated || v.Force {
		t.Errorf("%s: %s", v.Action, v.Why)
	}
	if v := Reconcile(Desired{Manifest: s.desired.Manifest, Payload: manifest}, s.applied, testNumber+1, testUs); v.OnlyNumber {
		t.Error("in the next revision it counts as changed in nothing but its number")
	}
}

func TestSamples_a_changed_value_of_our_own_is_updated(t *testing.T) {
	s := samples(t)["configmap"]
	manifest := s.desired.Payload.DeepCopy()
	if err := unstructured.SetNestedField(manifest.Object, "other", "data", "a"); err != nil {
		t.Fatal(err)
	}
	v := Reconcile(Desired{Manifest: s.desired.Manifest, Payload: manifest}, s.applied, testNumber, testUs)
	if v.Action != Updated || v.Why != ".data.a differs" {
		t.Errorf("%s: %s", v.Action, v.Why)
	}
}

func TestSamples_a_creation_is_not_recorded_while_its_controllers_still_write_it(t *testing.T) {
	s := samples(t)["deployment"]
	starting := s.created.DeepCopy()
	unstructured.RemoveNestedField(starting.Object, "status")
	if v := Reconcile(s.desired, starting, testNumber, testUs); v.Action != Idle || !v.Migrate {
		t.Errorf("%s: %s", v.Action, v.Why)
	}
	if err := unstructured.SetNestedField(starting.Object, int64(3), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	if v := Reconcile(s.desired, starting, testNumber, testUs); v.Action != Updated || !v.Migrate {
		t.Errorf("with another value: %s: %s", v.Action, v.Why)
	}
}

func TestSamples_what_is_sent_is_what_is_decided_with(t *testing.T) {
	for name, s := range samples(t) {
		for _, version := range []string{"", "12"} {
			sent := &unstructured.Unstructured{}
			if err := sent.UnmarshalJSON(s.desired.Body(testStamp, version)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := s.desired.Payload.DeepCopy()
			if want.SetResourceVersion(version); !equalObjects(sent, want) {
				t.Errorf("%s: sent    %v\ndecided %v", name, sent.Object, want.Object)
			}
		}
	}
}
