package compatibility

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
)

func TestObserve_reads_the_whole_of_requirement_and_definition_once_for_each_generation(t *testing.T) {
	b := newBench(t, needed(t, ""), widgets())
	for range 5 {
		if f, pass := b.observe(); !f.CRD.Seen || f.CRD.Absent || f.CRD.UID != "w" || pass.CRDName != "widgets.example.com" {
			t.Fatalf("it sees %+v", f.CRD)
		}
	}
	if b.reads != 2 {
		t.Errorf("it was read %d times", b.reads)
	}
	less := &apiextensionsv1.CustomResourceDefinition{}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(widgets()), less); err != nil {
		t.Fatal(err)
	}
	less.Generation = 2
	less.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = nil
	if err := b.Client.Update(t.Context(), less); err != nil {
		t.Fatal(err)
	}
	if f, _ := b.observe(); !slices.Equal(f.CRD.Missing, []string{"v1: size is missing"}) {
		t.Errorf("missing is %v", f.CRD.Missing)
	}
	if b.reads != 3 {
		t.Errorf("the requirement, which has not changed, is read again with the definition: %d reads", b.reads)
	}
	if err := b.Client.Delete(t.Context(), less); err != nil {
		t.Fatal(err)
	}
	if f, _ := b.observe(); !f.CRD.Seen || !f.CRD.Absent {
		t.Errorf("it sees %+v", f.CRD)
	}
}

func TestObserve_holds_hooks_for_ready_only_after_a_pass_has_told_of_the_generation(t *testing.T) {
	r := needed(t, "")
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
	r.Status.CRDName, r.Generation = "widgets.example.com", 2
	b := newBench(t, r, widgets(), endpoint())
	b.CA = []byte("ca")
	if _, err := b.Share(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, _ := b.observe()
	if ready := guards.HooksReady.Answer(f); ready.Truth != machine.No || !strings.Contains(ready.Reason, "generation 2") {
		t.Errorf("the entry stands, and nobody knows since when: %+v", ready)
	}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
		t.Fatal(err)
	}
	r.Status.Conditions[0].ObservedGeneration = 2
	if err := b.Client.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if f, _ = b.observe(); guards.HooksReady.Answer(f).Truth != machine.Yes {
		t.Errorf("it was told of: missing is %v", f.Hooks.Missing)
	}
}

func TestObserve_takes_no_other_definition_than_before(t *testing.T) {
	r := needed(t, "")
	r.Status.CRDName = "others.example.com"
	b := newBench(t, r, widgets())
	if f, pass := b.observe(); !strings.Contains(f.Spec.Problem, "others.example.com for good") || f.Hooks.Known || pass.CRDName != "others.example.com" {
		t.Errorf("it sees %+v", f)
	}
}

func TestObserve_tells_who_has_the_name_of_what_all_share(t *testing.T) {
	foreign := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: RequirementsConfiguration, Labels: map[string]string{CheckerLabel: "true"}}}
	b := newBench(t, needed(t, ""), widgets(), foreign)
	f, _ := b.observe()
	if told := strings.Join(f.Hooks.Missing, "; "); !strings.Contains(told, "ValidatingWebhookConfiguration capstan-requirements is somebody else's: delete it") {
		t.Errorf("missing is %q", told)
	}
}

func TestObserve_compiles_the_rules_that_objects_are_asked(t *testing.T) {
	for action, usable := range map[requirementsv1alpha1.CRDAdmitAction]bool{"": true, "Warn": false, "Deny": false} {
		r := needed(t, action)
		data := &r.Spec.CompatibilitySchema.CustomResourceDefinition.Data
		*data = strings.Replace(*data, "type: integer", "type: integer\n            x-kubernetes-validations: [{rule: self.b}]", 1)
		f, _ := newBench(t, r, widgets()).observe()
		if !f.Spec.Known || (f.Spec.Problem == "") != usable {
			t.Errorf("%q: it sees %+v", action, f.Spec)
		}
		if !usable && (!strings.HasPrefix(f.Spec.Problem, "spec.compatibilitySchema.customResourceDefinition.data: version v1: ") || !strings.Contains(f.Spec.Problem, `rule "self.b"`)) {
			t.Errorf("the problem is %s", f.Spec.Problem)
		}
	}
}

func TestObserve_takes_a_checker_for_one_that_stays_after_a_minute_without_a_break(t *testing.T) {
	b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
	stays := func() (is bool, lookAgain time.Duration) {
		t.Helper()
		f, pass := b.observe()
		result, err := OpenHooks.Run(t.Context(), pass)
		if err != nil {
			t.Fatal(err)
		}
		return f.CheckerStays, result.LookAgain
	}
	for _, step := range []struct {
		after     time.Duration
		away      bool
		is        bool
		lookAgain time.Duration
	}{
		{after: 0, lookAgain: time.Minute},
		{after: 50 * time.Second, lookAgain: 10 * time.Second},
		{after: time.Second, away: true},
		{after: time.Second, lookAgain: time.Minute},
		{after: time.Minute, is: true},
		{after: -time.Hour, lookAgain: time.Minute},
	} {
		b.now = b.now.Add(step.after)
		if step.away {
			if err := b.Client.Delete(t.Context(), endpoint()); err != nil {
				t.Fatal(err)
			}
		}
		if is, lookAgain := stays(); is != step.is || lookAgain != step.lookAgain {
			t.Errorf("%+v: it stays: %t, and is looked at again in %s", step, is, lookAgain)
		}
		if step.away {
			if err := b.Client.Create(t.Context(), endpoint()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestKeepHooks_keeps_them_also_for_a_definition_that_is_too_large_and_says_so(t *testing.T) {
	large := widgets()
	many := map[string]apiextensionsv1.JSONSchemaProps{}
	for i := range 1000 {
		many[fmt.Sprintf("f%d", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	large.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[strings.Repeat("x", 20_000)] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: many}
	b := newBench(t, needed(t, "Deny"), large, endpoint())
	b.CA = []byte("ca")
	var pass *Pass
	var f guards.Facts
	for range 5 {
		f, pass = b.observe()
	}
	if answer := guards.CRDMeets.Answer(f); answer.Truth != machine.Unknown || !strings.Contains(answer.Reason, "CRD widgets.example.com is too large to be judged: ") || b.reads != 2 {
		t.Errorf("after %d reads: %+v", b.reads, answer)
	}
	if _, err := KeepHooks.Run(t.Context(), pass); err == nil || !strings.Contains(err.Error(), "too large to be judged") {
		t.Errorf("the work says %v", err)
	}
	if got := b.policies(); got != "V:Fail M:Fail" {
		t.Errorf("the webhooks are %s", got)
	}
	small := widgets()
	small.UID, small.Generation = "x", 2
	if err := b.Client.Delete(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if f, _ = b.observe(); !f.CRD.Absent {
		t.Errorf("it sees %+v", f.CRD)
	}
	if err := b.Client.Create(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	if f, _ = b.observe(); guards.CRDMeets.Answer(f).Truth != machine.Yes {
		t.Errorf("it sees %+v", f.CRD)
	}
}
