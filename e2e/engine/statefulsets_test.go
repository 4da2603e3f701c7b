package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A StatefulSet whose volume claims go with it", func() {
	It("is retained as long as there are any, and goes when there are none", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		set := w.statefulSet("db", "Delete")
		rev := e.upgrade(ctx, w, set)
		claim := w.create(ctx, w.claim("data-db-0"))
		w.create(ctx, w.claim("data-db-x"))
		report := e.prune(ctx, rev, nil)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.WhyRetained()).To(ContainSubstring("1 volume claim"))
		Expect(w.fetch(ctx, set).GetDeletionTimestamp()).To(BeNil())
		w.delete(ctx, claim)
		e.deletes(ctx, rev)
	})

	It("goes by consent", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		set := w.statefulSet("db", "Delete")
		rev := e.upgrade(ctx, w, set)
		w.create(ctx, w.claim("data-db-0"))
		consented := e.consenting(ctx, set)
		w.create(ctx, w.claim("data-db-1"))
		report := e.prune(ctx, rev, consented)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Void).To(ContainSubstring("it was for 1, and there are 2 now"))
		Expect(e.prune(ctx, rev, e.consenting(ctx, set)).Gone).To(HaveLen(1))
	})

	It("is pruned when they are retained by Kubernetes", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.statefulSet("db", "Retain"))
		claim := w.create(ctx, w.claim("data-db-0"))
		Expect(e.prune(ctx, rev, nil).Gone).To(HaveLen(1))
		Expect(w.uid(ctx, claim)).To(Equal(claim.GetUID()))
	})

	It("is not deleted to be created again", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		set := recreated(w.statefulSet("db", "Delete"))
		e.converge(ctx, of(1, set))
		w.create(ctx, w.claim("data-db-0"))
		before := w.uid(ctx, set)
		changed := with(set, "other", "spec", "serviceName")
		report := e.until(ctx, of(2, changed), acted(changed, engine.Failed))
		Expect(report.Err()).To(MatchError(And(ContainSubstring("1 volume claim"), ContainSubstring("whenDeleted"))))
		Expect(w.uid(ctx, set)).To(Equal(before))
	})
})

// statefulSet has no pods, and one template of claims; whenDeleted says what becomes of these.
func (w *world) statefulSet(name, whenDeleted string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: $NS, name: %[1]s}
spec:
  replicas: 0
  serviceName: %[1]s
  persistentVolumeClaimRetentionPolicy: {whenDeleted: %[2]s, whenScaled: Retain}
  selector: {matchLabels: {app: $NAME-%[1]s}}
  template:
    metadata: {labels: {app: $NAME-%[1]s}}
    spec: {containers: [{name: db, image: "image:v1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, name, whenDeleted))
}

// claim is a claim of a volume.
func (w *world) claim(name string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: $NS, name: %s}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, name))
}
