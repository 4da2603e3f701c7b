package engine_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A preview", func() {
	It("case 27: tells what would be created, updated, recovered and what collides, and changes nothing", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		right, drifted := w.configMap("right", "key", "value"), w.configMap("drifted", "key", "value")
		missing, theirs := w.configMap("missing", "key", "value"), w.configMap("theirs", "key", "value")
		present := of(1, right, drifted, missing, theirs)
		e.converge(ctx, present)
		w.merge(ctx, "other", drifted, `{"data":{"key":"theirs"}}`)
		w.delete(ctx, missing)
		w.delete(ctx, theirs)
		w.create(ctx, w.configMap("theirs", "key", "theirs"))
		there := []*unstructured.Unstructured{right, drifted, theirs}
		versions, since := w.resourceVersions(ctx, there...), mark(ctx)

		var report *engine.Report
		Eventually(ctx, func() map[string]engine.Action {
			var err error
			report, err = e.Preview(ctx, present)
			Expect(err).NotTo(HaveOccurred())
			actions := map[string]engine.Action{}
			for o := range report.Objects {
				actions[o.Key.Name] = o.Action
			}
			return actions
		}).WithTimeout(patience).Should(Equal(map[string]engine.Action{
			right.GetName(): engine.Idle, drifted.GetName(): engine.Recovered, missing.GetName(): engine.Created, theirs.GetName(): engine.Collision,
		}))
		Expect(in(report, theirs).Holder).NotTo(BeEmpty())
		Expect(report.Complete()).To(BeFalse())
		Expect(report.Applied()).To(BeFalse())
		next, err := e.Preview(ctx, of(2, with(right, "other", "data", "key"), drifted))
		Expect(err).NotTo(HaveOccurred())
		Expect(in(next, right).Action).To(Equal(engine.Updated))
		Expect(next.Complete()).To(BeFalse())

		Expect(w.writes(ctx, since)).To(BeEmpty())
		Expect(w.resourceVersions(ctx, there...)).To(Equal(versions))
		Expect(w.isGone(ctx, missing)).To(Succeed())
	})

	It("is complete when there is nothing to do and every probe passes, and says why it is not when something is refused", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		right := w.configMap("right", "key", "value")
		e.converge(ctx, of(1, right))
		report, err := e.Preview(ctx, of(1, right))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Complete()).To(BeTrue(), report.String())

		bad := with(w.configMap("bad"), "no such field", "nonsense")
		since := mark(ctx)
		_, err = e.Preview(ctx, of(2, right, bad))
		Expect(err).To(MatchError(ContainSubstring("nonsense")))
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})
})

// resourceVersions are those of objects that must be there.
func (w *world) resourceVersions(ctx context.Context, objects ...*unstructured.Unstructured) map[string]string {
	GinkgoHelper()
	all := map[string]string{}
	for _, o := range objects {
		all[o.GetName()] = w.fetch(ctx, o).GetResourceVersion()
	}
	return all
}
