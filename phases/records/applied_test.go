package records

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/machine"
)

type requirement = requirementsv1alpha1.CompatibilityRequirement

// requirementCluster counts the applies of a status, and keeps the last.
type requirementCluster struct {
	client.Client
	applies int
	last    string
	fails   error
}

func newRequirementCluster(t *testing.T, r *requirement) *requirementCluster {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(requirementsv1alpha1.GroupVersion, &requirement{}, &requirementsv1alpha1.CompatibilityRequirementList{})
	metav1.AddToGroupVersion(scheme, requirementsv1alpha1.GroupVersion)
	c := &requirementCluster{}
	c.Client = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(r).WithStatusSubresource(r).Build(), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, next client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			c.applies++
			text, err := patch.Data(o)
			if c.last = string(text); err != nil || c.fails != nil {
				return errors.Join(err, c.fails)
			}
			return next.SubResource(sub).Patch(ctx, o, patch, opts...)
		},
	})
	return c
}

func newApplied(c client.Client, now func() time.Time, crd *string) *Applied[int, int, *requirement] {
	return NewApplied(c, func() *requirement { return &requirement{} },
		func(r *requirement) *[]metav1.Condition { return &r.Status.Conditions },
		func(from, to *requirement) { from.Status.DeepCopyInto(&to.Status) }, "tester",
		func(r *requirement, s machine.Snapshot[int, int]) ([]metav1.Condition, int64) {
			r.Status.CRDName = *crd
			return []metav1.Condition{{Type: "Progressing", Status: metav1.ConditionFalse, Reason: "UpToDate"}}, int64(s.Facts)
		},
		func(machine.Snapshot[int, int]) string { return "all is well" }, now)
}

func TestApplied_is_written_once_with_all_that_is_said(t *testing.T) {
	r := &requirement{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "a", Generation: 3}}
	c, now, crd := newRequirementCluster(t, r), noon, "things.test.io"
	s := newApplied(c, func() time.Time { return now }, &crd)
	pass := func(state machine.State) {
		t.Helper()
		if _, _, err := s.Load(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Save(t.Context(), "one", machine.Snapshot[int, int]{Record: machine.Record{State: state, Since: noon}}); err != nil {
			t.Fatal(err)
		}
	}
	pass("Arming")
	now = noon.Add(time.Hour)
	pass("Arming")
	if c.applies != 1 {
		t.Fatalf("it was written %d times", c.applies)
	}
	pass("Met")
	stored := &requirement{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "one"}, stored); err != nil {
		t.Fatal(err)
	}
	state, record := meta.FindStatusCondition(stored.Status.Conditions, "State"), meta.FindStatusCondition(stored.Status.Conditions, "Record")
	if c.applies != 2 || state == nil || record == nil || state.Reason != "Met" || state.Message != "all is well" || state.ObservedGeneration != 3 ||
		!state.LastTransitionTime.Time.Equal(noon) || stored.Status.CRDName != crd || len(stored.Status.Conditions) != 3 {
		t.Errorf("after %d writes it is %+v", c.applies, stored.Status)
	}
	if read, found, err := s.Load(t.Context(), "one"); err != nil || !found || read.State != "Met" {
		t.Errorf("read is %+v, %v, %v", read, found, err)
	}
}

func TestApplied_speaks_of_the_generation_that_is_told(t *testing.T) {
	c, crd := newRequirementCluster(t, &requirement{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "a", Generation: 3}}), ""
	s := newApplied(c, func() time.Time { return noon }, &crd)
	if _, _, err := s.Load(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "one", machine.Snapshot[int, int]{Record: machine.Record{State: "Met"}, Facts: 2}); err != nil {
		t.Fatal(err)
	}
	stored := &requirement{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "one"}, stored); err != nil {
		t.Fatal(err)
	}
	for _, told := range stored.Status.Conditions {
		if told.ObservedGeneration != 2 {
			t.Errorf("%s speaks of generation %d", told.Type, told.ObservedGeneration)
		}
	}
}

func TestApplied_is_bound_to_the_object_that_the_pass_has_seen(t *testing.T) {
	r := &requirement{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "a"}}
	c, crd := newRequirementCluster(t, r), ""
	s := newApplied(c, func() time.Time { return noon }, &crd)
	save := func() {
		t.Helper()
		if _, _, err := s.Load(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Save(t.Context(), "one", machine.Snapshot[int, int]{Record: machine.Record{State: "Met"}}); err != nil {
			t.Fatal(err)
		}
	}
	save()
	if !strings.Contains(c.last, `"uid":"a"`) {
		t.Errorf("applied is %s", c.last)
	}
	c.fails = apierrors.NewConflict(requirementsv1alpha1.Resource("compatibilityrequirements"), "one", errors.New("the UID is another"))
	crd = "things.test.io"
	save() // what was made anew under the name has a pass of its own
	if c.applies != 2 {
		t.Errorf("it was written %d times", c.applies)
	}
}

func TestFitting_stores_every_record_whose_texts_are_anybodys(t *testing.T) {
	for name, text := range map[string]string{"marks of HTML": "<&>", "control characters": "\x01", "quotes": `"`, "letters": "é"} {
		hostile := strings.Repeat(text, machine.MaxMessage)[:machine.MaxMessage]
		record := machine.Record{
			State: "Refused", Cause: hostile, Reason: hostile, Failure: &machine.Failure{Message: hostile},
			Entry: machine.Entry{Inputs: "u/1"}, Transitions: []machine.Transition{{Cause: hostile}, {Cause: hostile}},
		}
		stored, err := fitting(record, maxApplied, compact)
		if err != nil || len(stored) > maxApplied {
			t.Errorf("%s: %d bytes, %v", name, len(stored), err)
			continue
		}
		back, found := Decoded(stored)
		if !found || back.State != "Refused" || back.Entry.Inputs != "u/1" || back.Cause == "" || back.Failure == nil {
			t.Errorf("%s: it reads as %+v", name, back)
		}
		if strings.Contains(string(stored), `\u003c`) {
			t.Errorf("%s: it is escaped for browsers", name)
		}
		if record.Failure.Message != hostile || len(record.Transitions) != 2 {
			t.Errorf("%s: the record itself was changed", name)
		}
	}
}

func TestApplied_writes_the_words_of_an_error_that_lasts_now_and_then(t *testing.T) {
	c, now, crd := newRequirementCluster(t, &requirement{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "a"}}), noon, "things.test.io"
	s := newApplied(c, func() time.Time { return now }, &crd)
	save := func(failure *machine.Failure) time.Duration {
		t.Helper()
		if _, _, err := s.Load(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		later, err := s.Save(t.Context(), "one", machine.Snapshot[int, int]{Record: machine.Record{State: "Arming", Since: noon, Failure: failure}})
		if err != nil {
			t.Fatal(err)
		}
		return later
	}
	fails := func(words string) *machine.Failure { return &machine.Failure{Message: words, Since: noon} }
	save(nil)
	if later := save(fails("stream ID 1")); later != 0 || c.applies != 2 {
		t.Errorf("that it fails is written after %s, %d times", later, c.applies)
	}
	for i := range 100 {
		now = now.Add(50 * time.Millisecond)
		if later := save(fails("stream ID " + strings.Repeat("1", i+2))); later <= 0 || later > wordsEvery {
			t.Fatalf("it is saved again in %s", later)
		}
	}
	if c.applies != 2 {
		t.Errorf("other words were written %d times", c.applies-2)
	}
	now = now.Add(wordsEvery)
	if later := save(fails("stream ID 7")); later != 0 || c.applies != 3 || !strings.Contains(c.last, "stream ID 7") {
		t.Errorf("the last words are written in %s: %s", later, c.last)
	}
	if later := save(nil); later != 0 || c.applies != 4 {
		t.Errorf("that it ends is written in %s", later)
	}
}
