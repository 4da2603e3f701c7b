package engine_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

// hostiles is how many objects somebody makes, each with hostileBytes that cannot be compressed. A tenth of these bytes may stay:
// that tells whether objects are kept as a whole. What the rest of ten thousand may take is the bar of phases/engine/see/bare_test.go.
const hostiles, hostileBytes = 200, 100 << 10

var _ = Describe("Objects that carry our label, and that somebody else made", func() {
	DescribeTable("cost next to nothing", func(ctx SpecContext, tenants bool) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.configMap("a", "key", "value")))
		where := w.namespace
		if tenants {
			where = w.create(ctx, w.newNamespace("tenant")).GetName()
		}
		before, changed, since, begun := heap(), e.change(), mark(ctx), time.Now()
		w.floods(ctx, where, nil)
		// A watch that was begun before may be logged only now.
		Expect(w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.Time.After(begun) })).To(BeEmpty())
		Expect(changed).NotTo(BeClosed(), "it asked for a pass")
		growsLittle(before)

		next := w.start()
		before = heap()
		next.install(ctx, of(1, w.configMap("a", "key", "value")))
		growsLittle(before)
	},
		Entry("in a tenant's namespace", true),
		Entry("in that of the installation", false),
	)

	It("are read as a whole when a revision wants one of them", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.configMap("a", "key", "value")))
		w.floods(ctx, w.namespace, map[string]string{engine.OwnerAnnotation: "somebody"})
		wanted := w.configMap("hostile-7", "key", "value")
		report := e.until(ctx, of(2, w.configMap("a", "key", "value"), wanted), func(r *engine.Report) error {
			if len(r.Collisions()) != 1 {
				return fmt.Errorf("collisions: %s", r)
			}
			return nil
		})
		Expect(report.Collisions()[0].Owner).To(ContainSubstring("somebody"))
		w.delete(ctx, wanted)
		e.converge(ctx, of(2, w.configMap("a", "key", "value"), wanted))
	})
})

// floods makes the hostile objects.
func (w *world) floods(ctx context.Context, namespace string, annotations map[string]string) {
	GinkgoHelper()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range hostiles {
		group.Go(func() error {
			o := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("hostile-%d", i), Labels: map[string]string{engine.ManagedByLabel: "core"}, Annotations: annotations},
				BinaryData: map[string][]byte{"noise": make([]byte, hostileBytes)},
			}
			_, _ = rand.Read(o.BinaryData["noise"]) // never fails
			return w.client.Create(ctx, o, administrator)
		})
	}
	Expect(group.Wait()).To(Succeed())
}

// growsLittle waits until this process holds hardly more than before: what was read is let go with the next collections.
func growsLittle(before int64) {
	GinkgoHelper()
	Eventually(func() int64 { return heap() - before }).WithTimeout(patience).Should(BeNumerically("<", hostiles*hostileBytes/10), "bytes")
}

// heap is what this process holds.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
