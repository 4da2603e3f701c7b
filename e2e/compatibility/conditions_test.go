package compatibility_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A requirement", func() {
	It("tells how it stands, and what it was compared with", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		// Its data leaves out singular and listKind, as an author does.
		r := inForce(ctx, k.requirement(k.definition(schema)))
		told(ctx, r, "Progressing", "False", "UpToDate")
		told(ctx, r, "Compatible", "True", "Compatible")
		told(ctx, r, "State", "True", "Met", k.name())
		live := k.live(ctx)
		Expect(r.Status.CRDName).To(Equal(k.name()))
		Expect(r.Status.ObservedCRD).To(Equal(requirementsv1alpha1.ObservedCRD{UID: string(live.UID), Generation: live.Generation}))
		for _, c := range r.Status.Conditions {
			Expect(c.ObservedGeneration).To(Equal(r.Generation), c.Type)
		}
		By("following the definition")
		Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(Succeed())
		told(ctx, r, "Compatible", "False", "RequirementsNotMet", "v1: spec.color is missing")
		admitted(ctx, r)
		Expect(r.Status.ObservedCRD).To(Equal(requirementsv1alpha1.ObservedCRD{UID: string(live.UID), Generation: k.live(ctx).Generation}))
	})

	It("is admitted by a new spec only after that was in force for two seconds", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema)))
		told(ctx, r, "State", "True", "Met")
		for _, changes := range [][]ask{{crds(deny)}, {excludes("spec.lid", "v1")}} {
			amend(ctx, r, changes...)
			changed := time.Now()
			told(ctx, r, "Admitted", "True", "Admitted")
			Expect(time.Since(changed)).To(BeNumerically(">=", 2*time.Second))
		}
	})

	It("tells how it stands also over what others have written there", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema)))
		told(ctx, r, "State", "True", "Met")
		live := k.live(ctx)
		spoil := func(change func(*requirementsv1alpha1.CompatibilityRequirementStatus)) {
			GinkgoHelper()
			before := r.DeepCopy()
			change(&r.Status)
			Expect(env.Client.Status().Patch(ctx, r, client.MergeFrom(before))).To(Succeed())
		}
		isTold := func(schema, is, reason string) {
			GinkgoHelper()
			Expect(k.write(ctx, env.Client, k.definition(schema))).To(Succeed())
			told(ctx, r, "Compatible", is, reason)
			Expect(r.Status.ObservedCRD).To(Equal(requirementsv1alpha1.ObservedCRD{UID: string(live.UID), Generation: k.live(ctx).Generation}))
		}
		By("a generation that was never reached")
		spoil(func(s *requirementsv1alpha1.CompatibilityRequirementStatus) { s.ObservedCRD.Generation = 1000 })
		isTold(without("color:"), "False", "RequirementsNotMet")
		By("more conditions than leave room for its own")
		spoil(func(s *requirementsv1alpha1.CompatibilityRequirementStatus) {
			s.Conditions = nil
			for i := range 32 {
				s.Conditions = append(s.Conditions, metav1.Condition{
					Type: fmt.Sprintf("Other%d", i), Status: metav1.ConditionTrue, Reason: "Told", LastTransitionTime: metav1.Now(),
				})
			}
		})
		isTold(schema, "True", "Compatible")
	})
})
