package migration_test

import (
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

var _ = Describe("A hosted cluster whose API server cannot be reached any more while it is copied", Label(whole), func() {
	It("is moved all the same when that is over after two minutes", func(ctx SpecContext) {
		m := newMoving(ctx)
		h := m.add(ctx, "shop", 3, nil)
		before := m.take(ctx, h)
		gone := make(chan string, 1)
		m.between.Add(proxy.Rule{Verb: "create", Resource: "machines", Fault: m.goesAway(h, gone)})
		m.enable(ctx)
		m.begin(ctx)
		Eventually(ctx, gone).WithTimeout(patience).Should(Receive(Equal("Copying")))
		m.between.CutWatches("")
		cut := now(ctx)
		operator, _ := m.running()
		for range 10 {
			Expect(operator.Advance(12 * time.Second)).To(Succeed())
		}
		log, err := env.Cluster.RequestsSince(ctx, cut)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.By(harness.UserAgent)).To(BeEmpty(), "what arrived")
		copies, err := h.Stored(ctx, hostedworld.Private)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(copies)).To(And(BeNumerically(">", 0), BeNumerically("<", len(before.plain))), "copies")
		m.between.Clear()
		m.until(ctx, "shop", "Private")
		Expect(m.history().path("shop")).NotTo(ContainElement("Repausing"))
		m.history().expectTurns("shop")
		expectMovedAway(m.take(ctx, h), before)
	}, SpecTimeout(20*time.Minute))
})

// goesAway lets the first creation through, and at the second one the API server cannot be reached any more; it says in which state that
// was.
func (m *moving) goesAway(h *hostedworld.Hosted, gone chan<- string) proxy.Fault {
	var mu sync.Mutex
	seen := 0
	return func(x *proxy.Exchange) {
		if x.Request.DryRun {
			x.Pass()
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == 1 {
			x.Pass()
			return
		}
		if seen == 2 {
			m.between.Add(proxy.Rule{Fault: proxy.ResetBefore})
			gone <- m.told(m.lives, h)
		}
		x.Reset()
	}
}
