package engine_test

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The consent of an administrator", func() {
	It("counts for that object, and exactly what it held then", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		definition := w.crd("held")
		rev := e.upgrade(ctx, w, definition)
		w.create(ctx, w.instance("held", "mine"))
		key := engine.KeyOf(definition).Identity()
		given := e.consenting(ctx, definition)[key]
		another, empty, elsewhere := given, given, map[engine.Key]engine.Consent{{Kind: key.Kind, Name: key.Name}: given}
		another.UID, empty.Digest = "another", ""
		since := mark(ctx)
		for _, consented := range []map[engine.Key]engine.Consent{nil, {key: another}, {key: empty}, elsewhere} {
			Expect(e.prune(ctx, rev, consented).Retained).To(HaveLen(1))
		}
		w.create(ctx, w.instance("held", "yours"))
		report := e.prune(ctx, rev, map[engine.Key]engine.Consent{key: given})
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Void).To(ContainSubstring("it was for 1, and there are 2 now"))
		Expect(report.WhyRetained()).NotTo(ContainSubstring("yours"))
		w.delete(ctx, w.instance("held", "mine"))
		Expect(e.prune(ctx, rev, map[engine.Key]engine.Consent{key: given}).Retained[0].Void).To(ContainSubstring("it was for 1, and there are 1 now"))
		Expect(deletions(w.writes(ctx, since))).NotTo(ContainElement("customresourcedefinitions " + definition.GetName()))
		Expect(e.prune(ctx, rev, e.consenting(ctx, definition)).Gone).To(HaveLen(1))
	})

	It("counts for nothing when the same turns up again later, which is another object", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		definition := w.crd("held")
		rev := e.upgrade(ctx, w, definition)
		former := bare(w.fetch(ctx, w.configMap("capstan-inventory-1")))
		w.create(ctx, w.instance("held", "mine"))
		consented := e.consenting(ctx, definition)
		Expect(e.Forget(ctx, rev, e.prune(ctx, rev, consented))).To(Succeed())
		eventually(ctx, "the definition to go", func(ctx context.Context) error { return w.isGone(ctx, definition) })

		By("restoring from a backup what the former revision had")
		w.create(ctx, w.stamped(1, w.crd("held")), client.FieldOwner(fieldManager))
		eventually(ctx, "the kind to be served", func(ctx context.Context) error {
			return w.client.Create(ctx, w.instance("held", "again"))
		})
		w.create(ctx, former)
		eventually(ctx, "the engine to see it", func(context.Context) error {
			if found := e.Orphans(rev).Open; len(found) != 1 {
				return errors.New("it does not")
			}
			return nil
		})
		report := e.prune(ctx, rev, consented)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Void).To(ContainSubstring("another object of that name"))
		Expect(w.uid(ctx, w.instance("held", "again"))).NotTo(BeEmpty())
		Expect(e.Forget(ctx, rev, report)).To(Succeed())
		Expect(e.prune(ctx, rev, e.consenting(ctx, definition)).Gone).To(HaveLen(1))
	})

	It("lets a definition go with its instances before the workload that finalizes them, and the report says so", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.crd("held"), w.crd("free"), w.deployment("manager"), w.serviceAccount("manager"))
		mine := w.create(ctx, w.instance("held", "mine"))
		w.create(ctx, w.instance("held", "yours"))
		w.merge(ctx, "controller", mine, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
		consented := e.consenting(ctx, w.crd("held"))
		since := mark(ctx)
		report := e.pruning(ctx, rev, consented)
		first := report.Waiting[0]
		Expect(first.Key.Name).To(Equal(w.crd("held").GetName()))
		Expect(first.Consented).To(BeTrue())
		Expect(first.Why).To(And(ContainSubstring("2 instances"), ContainSubstring("as anna consented")))
		eventually(ctx, "the instance without a finalizer to go", func(ctx context.Context) error { return w.isGone(ctx, w.instance("held", "yours")) })
		Expect(w.fetch(ctx, mine).GetDeletionTimestamp()).NotTo(BeNil())
		Expect(e.pruning(ctx, rev, consented).Blocked()).To(And(
			ContainSubstring("1 instance in 1 namespace, 1 of them being deleted (kubectl get "),
			Not(ContainSubstring("mine")), Not(ContainSubstring(finalizer))))
		Expect(deletions(successful(w.writes(ctx, since)))).To(ConsistOf("customresourcedefinitions " + w.crd("held").GetName()))

		w.merge(ctx, "controller", mine, `{"metadata":{"finalizers":null}}`)
		report = e.prune(ctx, rev, consented)
		Expect(report.Gone).To(HaveLen(4))
		for _, o := range report.Gone {
			Expect(o.Consented).To(Equal(o.Key.Name == w.crd("held").GetName()), o.Key.String())
		}
	})

	It("lets a namespace go with what is in it, which is retained without it", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.newNamespace("full"))
		theirs := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NAME-full, name: theirs}}`)
		w.create(ctx, theirs)
		report := e.prune(ctx, rev, nil)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.WhyRetained()).To(ContainSubstring("1 object"))
		Expect(report.Gone).To(BeEmpty())
		consented := e.consenting(ctx, w.newNamespace("full"))
		w.create(ctx, w.object(`{apiVersion: v1, kind: Secret, metadata: {namespace: $NAME-full, name: more}}`))
		report = e.prune(ctx, rev, consented)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Void).To(ContainSubstring("it was for 1, and there are 2 now"))
		Expect(e.prune(ctx, rev, e.consenting(ctx, w.newNamespace("full"))).Gone).To(HaveLen(1))
		Expect(w.isGone(ctx, w.newNamespace("full"))).To(Succeed())
	})
})

// consenting is what an administrator consents to who looks now at what objects hold.
func (r *running) consenting(ctx context.Context, objects ...*unstructured.Unstructured) map[engine.Key]engine.Consent {
	GinkgoHelper()
	all := map[engine.Key]engine.Consent{}
	for _, o := range objects {
		loss, err := r.Holds(ctx, engine.KeyOf(o))
		Expect(err).NotTo(HaveOccurred())
		all[engine.KeyOf(o).Identity()] = engine.Consent{UID: loss.Object.UID, Count: loss.Contents.Count, Digest: loss.Contents.Holding.Digest(), By: "anna"}
	}
	return all
}
