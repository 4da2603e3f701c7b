package compatibility

import (
	"context"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/machine"
)

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
	if b.do(KeepHooks); b.probes != 1 {
		t.Fatalf("%d tests at one moment", b.probes)
	}
	b.refuses, b.now = true, b.now.Add(probeAgain)
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

func TestKeepHooks_restores_what_was_edited_to_look_foreign(t *testing.T) {
	b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
	b.CA = []byte("ca")
	if f := b.do(KeepHooks); len(f.Hooks.Missing) > 0 {
		t.Fatalf("missing is %v", f.Hooks.Missing)
	}
	edited := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := b.Client.Get(t.Context(), client.ObjectKey{Name: "one"}, edited); err != nil {
		t.Fatal(err)
	}
	edited.Labels, edited.OwnerReferences, edited.Webhooks = nil, nil, nil
	if err := b.Client.Update(t.Context(), edited, client.FieldOwner("administrator")); err != nil {
		t.Fatal(err)
	}
	if f, _ := b.observe(); len(f.Hooks.Taken) > 0 || len(f.Hooks.Missing) == 0 {
		t.Fatalf("it sees %+v", f.Hooks)
	}
	if f := b.do(KeepHooks); len(f.Hooks.Missing) > 0 {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
}

func TestKeepHooks_leaves_a_foreign_configuration_alone(t *testing.T) {
	foreign := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
		Name: "one", Labels: map[string]string{CheckerLabel: "true"}, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: requirementKind, Name: "one", UID: "u"}},
	}}
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

func TestKeepHooks_does_not_try_again_what_the_API_server_cannot_take(t *testing.T) {
	b := newBench(t, needed(t, "Warn"), widgets())
	b.Client = interceptor.NewClient(b.Client.(client.WithWatch), interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "ValidatingWebhookConfiguration"}, "one", nil)
	}})
	_, pass := b.observe()
	if _, err := KeepHooks.Run(t.Context(), pass); !machine.IsTerminal(err) {
		t.Errorf("it ends with %v", err)
	}
}

func TestHooks_are_looked_at_again_where_a_write_meets_another_version_than_the_one_seen(t *testing.T) {
	for name, work := range map[string]machine.Action[*Pass]{"KeepHooks": KeepHooks, "OpenHooks": OpenHooks, "RemoveHooks": RemoveHooks} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
			b.trusts("one")
			b.CA = []byte("ca")
			b.do(KeepHooks)
			both, err := b.configurationsOf(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			if name == "KeepHooks" {
				b.disarm(both[0], "")
			}
			plain, left := b.Client, 2
			conflict := apierrors.NewConflict(schema.GroupResource{Resource: "validatingwebhookconfigurations"}, "one", nil)
			b.Client = interceptor.NewClient(plain.(client.WithWatch), interceptor.Funcs{
				Patch: func(ctx context.Context, next client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
					if left--; left >= 0 {
						return conflict
					}
					return next.Patch(ctx, o, patch, opts...)
				},
				Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if left--; left >= 0 {
						return conflict
					}
					return next.Delete(ctx, o, opts...)
				},
			})
			for tries := 1; ; tries++ {
				_, pass := b.observe()
				result, err := work.Run(t.Context(), pass)
				if err != nil {
					t.Fatal(err)
				}
				if left < 0 || tries > 3 {
					if result.LookAgain == lookAgain || tries > 3 {
						t.Errorf("after %d tries it looks again in %s", tries, result.LookAgain)
					}
					break
				}
				if result.LookAgain != lookAgain {
					t.Errorf("after a conflict it looks again in %s", result.LookAgain)
				}
			}
		})
	}
}
