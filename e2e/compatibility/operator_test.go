package compatibility_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// operated is served, with an operator that knows where the webhooks are.
func operated(ctx context.Context) (*checker, *harness.Operator) {
	GinkgoHelper()
	c := served(ctx)
	answers(ctx)
	return c, operate(c)
}

// answers has a replica of the checker stand in the endpoints of its Service.
func answers(ctx context.Context) {
	GinkgoHelper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-webhooks-e2e", Labels: map[string]string{discoveryv1.LabelServiceName: "capstan-webhooks"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}},
	}
	Expect(env.Client.Create(ctx, slice)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, slice))).To(Succeed())
	})
}

// away takes the replica out of the endpoints.
func away(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.DeleteAllOf(ctx, &discoveryv1.EndpointSlice{}, client.InNamespace(harness.OperatorNamespace), client.MatchingLabels{discoveryv1.LabelServiceName: "capstan-webhooks"})).To(Succeed())
}

func operate(c *checker) *harness.Operator {
	GinkgoHelper()
	ca := filepath.Join(env.Cluster.Dir(), "webhooks-ca.crt")
	Expect(os.WriteFile(ca, c.CA(), 0o600)).To(Succeed())
	operator, err := env.StartOperator(harness.OperatorOptions{SteeredClock: true, Arguments: []string{"--webhooks-url=" + c.URL(""), "--webhooks-ca-file=" + ca}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			GinkgoWriter.Print(env.Account(ctx, operator))
		}
		Expect(operator.Stop()).To(Succeed())
	})
	return operator
}

// requires is a requirement of boxes as an author makes it.
func requires(name string, crd, objects requirementsv1alpha1.CRDAdmitAction) *requirement {
	GinkgoHelper()
	data, err := yaml.Marshal(boxes.definition(schema))
	Expect(err).NotTo(HaveOccurred())
	r := &requirement{}
	r.Name = name
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: string(data)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = crd
	r.Spec.ObjectSchemaValidation.Action = objects
	return r
}

// says waits for the reason of a condition of a requirement, at its present generation.
func says(ctx context.Context, name, kind, reason string) *requirement {
	GinkgoHelper()
	r := &requirement{}
	eventually(ctx, fmt.Sprintf("requirement %s to say %s/%s", name, kind, reason), func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, r); err != nil {
			return err
		}
		c := meta.FindStatusCondition(r.Status.Conditions, kind)
		return unless(c != nil && c.Reason == reason && c.ObservedGeneration == r.Generation, fmt.Sprintf("its conditions are %+v", r.Status.Conditions))
	})
	return r
}

var _ = Describe("The operator", func() {
	It("has a definition that breaks a requirement refused, and lets go of it with the requirement", func(ctx SpecContext) {
		c, _ := operated(ctx)
		established(ctx, schema)
		required := requires("one", deny, "")
		Expect(env.Client.Create(ctx, required)).To(Succeed())
		says(ctx, "one", "State", "Met")
		r := says(ctx, "one", "Progressing", "UpToDate")
		live := &definition{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: boxes.name()}, live)).To(Succeed())
		Expect(r.Status.CRDName).To(Equal(live.Name))
		Expect(r.Status.ObservedCRD).To(Equal(requirementsv1alpha1.ObservedCRD{UID: string(live.UID), Generation: live.Generation}))
		Expect(meta.IsStatusConditionTrue(r.Status.Conditions, "Admitted")).To(BeTrue())
		Expect(meta.FindStatusCondition(r.Status.Conditions, "Compatible").Reason).To(Equal("Compatible"))

		for range 20 {
			Expect(c.update(ctx, without("color:"))).To(MatchError(ContainSubstring("CompatibilityRequirement one: ")))
		}
		live.Labels = map[string]string{"a": "b"}
		Expect(env.Client.Update(ctx, live)).To(Succeed())

		Expect(env.Client.Delete(ctx, required)).To(Succeed())
		eventually(ctx, "the break to be let through", func(ctx context.Context) error { return c.update(ctx, without("color:")) })
	}, SpecTimeout(3*time.Minute))

	It("gives a requirement of objects configurations of its own, restores them, and leaves those of others alone", func(ctx SpecContext) {
		operated(ctx)
		established(ctx, schema)
		foreign := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "two"}}
		Expect(env.Client.Create(ctx, foreign)).To(Succeed())
		required := requires("two", "", deny)
		Expect(env.Client.Create(ctx, required)).To(Succeed())
		says(ctx, "two", "Progressing", "OwnershipConflict")
		Expect(env.Client.Delete(ctx, foreign)).To(Succeed())
		says(ctx, "two", "Admitted", "Admitted")
		says(ctx, "two", "State", "Met")

		validates := &admissionv1.ValidatingWebhookConfiguration{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: "two"}, validates)).To(Succeed())
		validates.Webhooks[0].Rules = nil
		Expect(env.Client.Update(ctx, validates)).To(Succeed())
		eventually(ctx, "the configuration to be restored", func(ctx context.Context) error {
			err := env.Client.Get(ctx, client.ObjectKey{Name: "two"}, validates)
			return errors.Join(err, unless(len(validates.Webhooks[0].Rules) > 0, "it has no rules"))
		})
		says(ctx, "two", "State", "Met")
		Expect(env.Client.Create(ctx, box("good", "{size: 1, color: red}"))).To(Succeed())
		Expect(env.Client.Delete(ctx, required)).To(Succeed())
		eventually(ctx, "the configurations to go", func(ctx context.Context) error {
			err := env.Client.Get(ctx, client.ObjectKey{Name: "two"}, validates)
			return errors.Join(client.IgnoreNotFound(err), unless(err != nil, "one is there"))
		})
	}, SpecTimeout(3*time.Minute))

	It("refuses data that went bad past the checker, and goes on once it is mended", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, without("color:"))
		required := requires("three", warn, "")
		required.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "kind: ["
		Expect(env.Client.Create(ctx, required)).To(Succeed())
		operate(c)
		r := says(ctx, "three", "Progressing", "ConfigurationError")
		Expect(r.Status.CRDName).To(BeEmpty())
		before := r.DeepCopy()
		r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = requires("x", "", "").Spec.CompatibilitySchema.CustomResourceDefinition.Data
		Expect(env.Client.Patch(ctx, r, client.MergeFrom(before))).To(Succeed())
		r = says(ctx, "three", "Compatible", "RequirementsNotMet")
		Expect(meta.FindStatusCondition(r.Status.Conditions, "Compatible").Message).To(ContainSubstring("color"))
	}, SpecTimeout(3*time.Minute))

	It("refuses nothing once the checker has been away for 15 minutes, and arms again unaided", func(ctx SpecContext) {
		c, operator := operated(ctx)
		established(ctx, schema)
		Expect(env.Client.Create(ctx, requires("four", deny, deny))).To(Succeed())
		says(ctx, "four", "State", "Met")
		c.Kill()
		away(ctx)
		Expect(c.update(ctx, without("color:"))).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(env.Client.Create(ctx, box("none", "{size: 1, color: red}"))).To(MatchError(ContainSubstring("failed calling webhook")))
		eventually(ctx, "the operator to notice", func(ctx context.Context) error {
			r := &requirement{}
			err := env.Client.Get(ctx, client.ObjectKey{Name: "four"}, r)
			state := meta.FindStatusCondition(r.Status.Conditions, "State")
			return errors.Join(err, unless(state != nil && strings.Contains(state.Message, "Open at"), "its state says nothing of it"))
		})
		Expect(operator.Advance(16 * time.Minute)).To(Succeed())
		says(ctx, "four", "Progressing", "CheckerUnavailable")
		eventually(ctx, "objects to be let through", func(ctx context.Context) error {
			return env.Client.Create(ctx, box("some", "{size: 1, color: red}"))
		})
		eventually(ctx, "the break to be let through", func(ctx context.Context) error { return c.update(ctx, without("color:")) })
		eventually(ctx, "the way out to be told", func(ctx context.Context) error {
			told := &configv1.ClusterOperator{}
			err := env.Client.Get(ctx, client.ObjectKey{Name: harness.ClusterOperatorName}, told)
			for _, condition := range told.Status.Conditions {
				if condition.Type == "CompatibilityControllerDegraded" && condition.Status == "True" && strings.Contains(condition.Message, "four") {
					return nil
				}
			}
			return errors.Join(err, errors.New("it is not told"))
		})

		Expect(c.Start()).To(Succeed())
		eventually(ctx, "the webhooks to be ready", c.Ready)
		answers(ctx)
		says(ctx, "four", "State", "Unmet")
		eventually(ctx, "the mend to be let through", func(ctx context.Context) error { return c.update(ctx, schema) })
		says(ctx, "four", "State", "Met")
		Expect(c.update(ctx, without("color:"))).To(MatchError(ContainSubstring("CompatibilityRequirement four: ")))
	}, SpecTimeout(3*time.Minute))

	It("never has a webhook refuse that the API server does not reach, ready or not", func(ctx SpecContext) {
		c := served(ctx)
		answers(ctx)
		established(ctx, schema)
		c.Kill() // and it stays among the endpoints
		operator := operate(c)
		Expect(env.Client.Create(ctx, requires("five", deny, deny))).To(Succeed())
		says(ctx, "five", "Admitted", "NotAdmitted")
		eventually(ctx, "the configurations to be written", func(ctx context.Context) error {
			return env.Client.Get(ctx, client.ObjectKey{Name: "five"}, &admissionv1.ValidatingWebhookConfiguration{})
		})
		Expect(operator.Advance(5 * time.Minute)).To(Succeed())
		says(ctx, "five", "State", "Degraded")
		Expect(c.update(ctx, without("color:"))).To(Succeed())
		Expect(env.Client.Create(ctx, box("any", "{size: 1, color: red}"))).To(Succeed())
	}, SpecTimeout(3*time.Minute))
})
