package compatibility

import (
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

func TestHooks_of_a_requirement_named_like_what_all_share_are_not_what_all_share(t *testing.T) {
	refused := func(r *requirementsv1alpha1.CompatibilityRequirement) {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: "Enforces", Reason: "ObjectsDeny", ObservedGeneration: 1})
		r.Generation, r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = 2, "{}"
	}
	deleted := func(r *requirementsv1alpha1.CompatibilityRequirement) {
		r.DeletionTimestamp, r.Finalizers = &metav1.Time{Time: noon}, []string{"example.com/waits"}
	}
	as := func(*requirementsv1alpha1.CompatibilityRequirement) {}
	for _, name := range []string{RequirementsConfiguration, CRDsConfiguration} {
		for _, block := range []requirementsv1alpha1.CRDAdmitAction{"", "Warn", "Deny"} {
			for _, c := range []struct {
				in   machine.State
				is   func(*requirementsv1alpha1.CompatibilityRequirement)
				work machine.Action[*Pass]
			}{
				{"Arming", as, KeepHooks},
				{"Met", as, KeepHooks},
				{"Unmet", as, KeepHooks},
				{"Conflicted", as, KeepHooks},
				{"Open", as, OpenHooks},
				{"Open", refused, OpenHooks},
				{"Refused", refused, RearmHooks},
				{"Releasing", deleted, RemoveHooks},
			} {
				t.Run(name+"/"+string(block)+"/"+string(c.in), func(t *testing.T) {
					r := needed(t, block)
					r.Name, r.Status.Conditions[0].Reason = name, string(c.in)
					c.is(r)
					denies, warns := requirement("denies", "others.example.com", "Deny", "Met"), requirement("warns", "more.example.com", "Warn", "Met")
					b := newBench(t, r, widgets(), endpoint(), &denies, &warns)
					b.CA = []byte("ca")
					if _, err := b.Share(t.Context()); err != nil {
						t.Fatal(err)
					}
					before := b.stored(name)
					f, pass, err := b.Observe(t.Context(), machine.Key(name))
					if err != nil {
						t.Fatal(err)
					}
					if taken := len(f.Hooks.Taken) > 0; taken != (block != "") {
						t.Errorf("taken are %v", f.Hooks.Taken)
					}
					if block == "" && len(f.Hooks.Missing) > 0 {
						t.Errorf("missing is %v", f.Hooks.Missing)
					}
					if result, err := c.work.Run(t.Context(), pass); err != nil || result.Did != "" {
						t.Errorf("it has done %q, %v", result.Did, err)
					}
					if after := b.stored(name); after != before {
						t.Errorf("%s was written", name)
					}
				})
			}
		}
	}
}

// stored is which version of a validating configuration there is.
func (b *bench) stored(name string) [2]string {
	b.t.Helper()
	c := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := b.Client.Get(b.t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		b.t.Fatal(err)
	}
	return [2]string{c.ResourceVersion, string(c.UID)}
}
