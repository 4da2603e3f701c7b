package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A namespace that a revision does not have any more", func() {
	It("stays when that revision has objects in it, whatever the administrator consented to", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		extra, inside := w.newNamespace("extra"), w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NAME-extra, name: inside}}`)
		e.install(ctx, of(1, extra, inside))
		uid := w.uid(ctx, inside)
		rev := of(2, inside)
		e.converge(ctx, rev)
		for _, consented := range []map[engine.Key]engine.Consent{nil, e.consenting(ctx, extra)} {
			report := e.prune(ctx, rev, consented)
			Expect(report.Gone).To(BeEmpty())
			Expect(report.Left).To(HaveLen(1))
			Expect(report.Left[0].Action).To(Equal(engine.HandedOver))
			Expect(report.Left[0].Why).To(ContainSubstring("revision " + rev.Name + " has objects in it"))
		}
		Expect(w.fetch(ctx, extra).GetDeletionTimestamp()).To(BeNil())
		Expect(w.uid(ctx, inside)).To(Equal(uid))
	})

	It("is retained for what somebody has there, whoever owns that in the whole cluster, and whatever marks it has", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		extra := w.newNamespace("extra")
		rev := e.upgrade(ctx, w, extra)
		role := w.create(ctx, w.clusterRole("owner"))
		owned := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NAME-extra, name: owned}}`)
		owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: role.GetName(), UID: role.GetUID()}})
		w.create(ctx, owned)
		copied := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NAME-extra, name: copied}}`)
		copied.SetAnnotations(w.fetch(ctx, w.configMap("stays")).GetAnnotations())
		w.create(ctx, copied)
		report := e.prune(ctx, rev, nil)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.WhyRetained()).To(ContainSubstring("2 objects"))
		Expect(w.fetch(ctx, extra).GetDeletionTimestamp()).To(BeNil())
	})
})
