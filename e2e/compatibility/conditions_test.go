package compatibility_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
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
		told(ctx, r, "Admitted", "True", "Admitted")
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
})
