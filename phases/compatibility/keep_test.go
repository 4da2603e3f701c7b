package compatibility

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func widgets() *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", UID: "w", Generation: 1},
	}
	d.Spec.Group, d.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}},
	}}}
	return d
}

// bench is a cluster whose checker refuses, or not.
type bench struct {
	*Phases
	t       *testing.T
	refuses bool
	probes  int
	// reads counts those of the API server itself.
	reads int
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{requirementsv1alpha1.AddToScheme, admissionregistrationv1.AddToScheme, discoveryv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{t: t, refuses: true}
	plain := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&requirementsv1alpha1.CompatibilityRequirement{}).Build()
	cluster := interceptor.NewClient(plain, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if o.GetName() != probeName {
				return next.Create(ctx, o, opts...)
			}
			if b.probes++; b.refuses {
				return errors.New(`admission webhook "requirements.capstan.openshift.io" denied the request: it is empty`)
			}
			return nil
		},
	})
	live := interceptor.NewClient(plain, interceptor.Funcs{Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		b.reads++
		return next.Get(ctx, key, o, opts...)
	}})
	b.Phases = &Phases{Client: cluster, Live: live, Namespace: "ops", Now: func() time.Time { return noon }}
	return b
}

func (b *bench) observe() (guards.Facts, *Pass) {
	b.t.Helper()
	f, pass, err := b.Observe(b.t.Context(), "one")
	if err != nil {
		b.t.Fatal(err)
	}
	return f, pass
}

// do looks, does a work, and looks again.
func (b *bench) do(work machine.Action[*Pass]) guards.Facts {
	b.t.Helper()
	_, pass := b.observe()
	if _, err := work.Run(b.t.Context(), pass); err != nil {
		b.t.Fatal(err)
	}
	f, _ := b.observe()
	return f
}

// trust plays the service CA.
func (b *bench) trusts(name string) {
	b.t.Helper()
	both, err := b.configurationsOf(b.t.Context(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range both {
		switch o := c.live.(type) {
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			o.Webhooks[0].ClientConfig.CABundle = []byte("ca")
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			o.Webhooks[0].ClientConfig.CABundle = []byte("ca")
		default:
			continue
		}
		if err := b.Client.Update(b.t.Context(), c.live); err != nil {
			b.t.Fatal(err)
		}
	}
}

// policies are those of both configurations, V and M.
func (b *bench) policies() string {
	b.t.Helper()
	both, err := b.configurationsOf(b.t.Context(), "one")
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, c := range both {
		for _, a := range armaments(c.live) {
			all = append(all, c.kind[:1]+":"+string(a.policy))
		}
	}
	return strings.Join(all, " ")
}

func needed(t *testing.T, objects requirementsv1alpha1.CRDAdmitAction) *requirementsv1alpha1.CompatibilityRequirement {
	t.Helper()
	data, err := yaml.Marshal(widgets())
	if err != nil {
		t.Fatal(err)
	}
	r := requirement("one", "", "", "Arming")
	r.UID, r.Generation = "u", 1
	r.Status.Conditions[0].ObservedGeneration = 1
	r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = string(data)
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = "StorageOnly"
	r.Spec.ObjectSchemaValidation.Action = objects
	return &r
}

func endpoint() *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "s", Labels: map[string]string{discoveryv1.LabelServiceName: Service}}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}
}

func TestKeepHooks_refuses_only_with_a_CA_bundle_and_a_checker_that_has_proved_itself(t *testing.T) {
	b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
	f := b.do(KeepHooks)
	if b.policies() != "V:Ignore M:Ignore" || b.probes > 0 || !strings.Contains(strings.Join(f.Hooks.Missing, ";"), "CA bundle") {
		t.Fatalf("without a bundle: %s after %d tests, %v", b.policies(), b.probes, f.Hooks.Missing)
	}
	b.trusts("one")
	b.refuses = false
	if f = b.do(KeepHooks); b.policies() != "V:Ignore M:Ignore" || b.probes == 0 || len(f.Hooks.Missing) == 0 {
		t.Fatalf("without a proof: %s after %d tests, %v", b.policies(), b.probes, f.Hooks.Missing)
	}
	b.refuses = true
	if f = b.do(KeepHooks); b.policies() != "V:Fail M:Fail" || len(f.Hooks.Missing) > 0 || f.Hooks.Done != 6 {
		t.Fatalf("with both: %s, %+v", b.policies(), f.Hooks)
	}
	if err := b.Client.Delete(t.Context(), endpoint()); err != nil {
		t.Fatal(err)
	}
	probes := b.probes
	if b.do(KeepHooks); b.policies() != "V:Fail M:Fail" || b.probes != probes {
		t.Errorf("while the checker is away: %s", b.policies())
	}
	if b.do(OpenHooks); b.policies() != "V:Ignore M:Ignore" {
		t.Errorf("opened: %s", b.policies())
	}
	if b.do(KeepHooks); b.policies() != "V:Ignore M:Ignore" {
		t.Errorf("opened, and the checker is away: %s", b.policies())
	}
	if err := b.Client.Create(t.Context(), endpoint()); err != nil {
		t.Fatal(err)
	}
	if b.do(RearmHooks); b.policies() != "V:Fail M:Fail" {
		t.Errorf("rearmed: %s", b.policies())
	}
	if b.do(RemoveHooks); b.policies() != "" {
		t.Errorf("removed: %s", b.policies())
	}
}

func TestRearmHooks_restores_what_was_denied_also_where_the_block_went_with_the_data(t *testing.T) {
	b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
	b.CA = []byte("ca")
	b.do(KeepHooks)
	b.do(OpenHooks)
	r := &requirementsv1alpha1.CompatibilityRequirement{}
	if err := b.Client.Get(t.Context(), client.ObjectKey{Name: "one"}, r); err != nil {
		t.Fatal(err)
	}
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: "Enforces", Reason: "ObjectsDeny", ObservedGeneration: 1})
	if err := b.Client.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Generation = 2
	r.Spec.CompatibilitySchema.CustomResourceDefinition.Data, r.Spec.ObjectSchemaValidation.Action = "{}", ""
	if err := b.Client.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if b.do(RearmHooks); b.policies() != "V:Fail M:Fail" {
		t.Errorf("rearmed: %s", b.policies())
	}
}

func TestKeepHooks_leaves_a_foreign_configuration_alone(t *testing.T) {
	foreign := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{CheckerLabel: "true"}}}
	b := newBench(t, needed(t, "Warn"), widgets(), foreign)
	for _, work := range []machine.Action[*Pass]{KeepHooks, OpenHooks, RearmHooks, RemoveHooks} {
		if f := b.do(work); len(f.Hooks.Taken) != 1 {
			t.Errorf("%s: taken are %v", work.Name, f.Hooks.Taken)
		}
	}
	after := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(foreign), after); err != nil || len(after.Webhooks) > 0 {
		t.Errorf("it is %+v, %v", after, err)
	}
}

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

func TestShare_writes_what_all_share_and_sweeps_what_belongs_to_nobody(t *testing.T) {
	left := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
		Name: "gone", Labels: map[string]string{CheckerLabel: "true"}, OwnerReferences: []metav1.OwnerReference{{Kind: requirementKind, Name: "gone", UID: "g"}},
	}}
	r := needed(t, "")
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
	r.Status.CRDName = "widgets.example.com"
	b := newBench(t, r, widgets(), left, endpoint())
	b.CA = []byte("ca")
	if again, err := b.Share(t.Context()); err != nil || again != 0 {
		t.Fatal(again, err)
	}
	if f, _ := b.observe(); len(f.Hooks.Missing) > 0 {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(left), left); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("what is left of a requirement stays: %v", err)
	}
}

func TestSay_keeps_the_name_the_verdict_and_the_highest_generation(t *testing.T) {
	r := needed(t, "")
	r.Status.CRDName = "widgets.example.com"
	r.Status.ObservedCRD = requirementsv1alpha1.ObservedCRD{UID: "w", Generation: 7}
	r.Status.Conditions = []metav1.Condition{{Type: "Compatible", Status: metav1.ConditionTrue, Reason: "Compatible", ObservedGeneration: 3}}
	told, _ := say(r, Snapshot{Seen: &Pass{}}, nil)
	if kept := meta.FindStatusCondition(told, "Compatible"); kept == nil || kept.ObservedGeneration != 3 || r.Status.CRDName == "" || r.Status.ObservedCRD.Generation != 7 {
		t.Errorf("unread: %+v, %+v", told, r.Status)
	}
	say(r, Snapshot{Seen: &Pass{}, Facts: guards.Facts{CRD: guards.CRD{Seen: true, UID: "w", Generation: 6}}}, nil)
	if r.Status.ObservedCRD.Generation != 7 {
		t.Errorf("an older one: %+v", r.Status.ObservedCRD)
	}
	say(r, Snapshot{Seen: &Pass{}, Facts: guards.Facts{CRD: guards.CRD{Seen: true, Absent: true}}}, nil)
	if r.Status.ObservedCRD.UID != "" {
		t.Errorf("absent: %+v", r.Status.ObservedCRD)
	}
}

func TestSay_promises_nothing_for_a_generation_of_which_nobody_knows_whether_it_is_in_force(t *testing.T) {
	r := needed(t, "Deny")
	r.Generation = 2
	r.Status.Conditions = []metav1.Condition{
		{Type: "Admitted", Status: metav1.ConditionTrue, Reason: "Admitted", ObservedGeneration: 1},
		{Type: "Enforces", Status: metav1.ConditionTrue, Reason: "CRDsDeny", ObservedGeneration: 1},
	}
	shot := Snapshot{Seen: &Pass{Requirement: r}, Facts: guards.Facts{Generation: 2}}
	unread := []Condition{{Type: "Progressing", Is: true, Reason: "TransientError"}}
	told, of := say(r, shot, unread)
	admitted, progressing := meta.FindStatusCondition(told, "Admitted"), meta.FindStatusCondition(told, "Progressing")
	if of != 1 || admitted == nil || admitted.ObservedGeneration != 1 || progressing.ObservedGeneration != 2 {
		t.Errorf("the record speaks of generation %d, told is %+v", of, told)
	}
	if enforces := meta.FindStatusCondition(told, "Enforces"); enforces == nil || enforces.ObservedGeneration != 1 || enforces.Reason != "CRDsDeny" {
		t.Errorf("it enforces %+v", enforces)
	}
	shot.Facts.Spec.Known = true
	told, of = say(r, shot, append(unread, Condition{Type: "Admitted"}))
	if enforces := meta.FindStatusCondition(told, "Enforces"); of != 2 || enforces == nil || enforces.ObservedGeneration != 2 || enforces.Reason != "ObjectsDeny" {
		t.Errorf("once it is read, the record speaks of generation %d, and it enforces %+v", of, enforces)
	}
}

func TestWithTheirs_has_room_for_as_many_conditions_as_a_requirement_may_have(t *testing.T) {
	var theirs []admissionregistrationv1.MatchCondition
	for i := range maxConditions {
		theirs = append(theirs, admissionregistrationv1.MatchCondition{Name: strings.Repeat("a", i+1), Expression: "true // all"})
	}
	if all := withTheirs(theirs); len(all) != maxConditions || !strings.Contains(all[0].Expression, "true // all\n)") || !strings.Contains(all[0].Expression, notTerminating) {
		t.Errorf("%d conditions, the first is %s", len(all), all[0].Expression)
	}
	taken := withTheirs([]admissionregistrationv1.MatchCondition{{Name: terminatingSkip, Expression: "true"}})
	if len(taken) != 2 || taken[0].Name == taken[1].Name {
		t.Errorf("they are %+v", taken)
	}
}
