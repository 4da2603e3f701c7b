package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The number of the next revision", func() {
	It("does not follow from what a tenant has written into a namespace", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		Expect(e.HighestNumber(ctx, 0)).To(BeZero())
		forged := w.deployment("forged")
		forged.SetLabels(map[string]string{engine.ManagedByLabel: "core"})
		forged.SetAnnotations(map[string]string{engine.RevisionAnnotation: "9223372036854775807"})
		w.create(ctx, forged)
		Expect(e.HighestNumber(ctx, 0)).To(BeZero())
	})

	It("is refused by name where a cluster's object of ours has one that no installation can have reached", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		forged := with(w.clusterRole("forged"), "core", "metadata", "labels", engine.ManagedByLabel)
		for number, refused := range map[string]bool{"1000000": false, "1000001": true, "1099511627775": true, "1099511627776": true, "99999999999999999999": true, "many": false} {
			w.ssa(ctx, fieldManager, annotated(forged, engine.RevisionAnnotation, number))
			_, err := e.HighestNumber(ctx, 0)
			if !refused {
				Expect(err).NotTo(HaveOccurred())
				continue
			}
			Expect(err).To(MatchError(And(ContainSubstring("ClusterRole "+forged.GetName()), ContainSubstring(number), ContainSubstring("take the annotation away"))))
		}
	})

	It("does not follow from what somebody else has written on an object of the cluster, and does from what we have, with and without inventories", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		role := with(w.clusterRole("numbered"), "core", "metadata", "labels", engine.ManagedByLabel)
		w.create(ctx, annotated(role, engine.RevisionAnnotation, "99999999999999999999"))
		Expect(e.HighestNumber(ctx, 0)).To(BeZero())
		e.install(ctx, of(3, w.configMap("a")))
		Expect(e.HighestNumber(ctx, 0)).To(Equal(int64(3)))
		w.ssa(ctx, fieldManager, annotated(role, engine.RevisionAnnotation, "5"))
		Expect(e.HighestNumber(ctx, 0)).To(Equal(int64(5)))
	})
})
