package migration_test

import (
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

var _ = Describe("A hosted cluster whose API server goes away while it is copied", Label(whole), func() {
	It("is moved all the same when that is back after two minutes", func(ctx SpecContext) {
		m := newMoving(ctx)
		h := m.add(ctx, "shop", 3, nil)
		before := m.take(ctx, h)
		gone := make(chan string, 1)
		m.between.Add(proxy.Rule{Verb: "create", Resource: "machines", Fault: m.endsServer(h, gone)})
		m.enable(ctx)
		m.begin(ctx)
		Eventually(ctx, gone).WithTimeout(patience).Should(Receive(Equal("Copying")))
		operator, _ := m.running()
		for range 10 {
			Expect(operator.Advance(12 * time.Second)).To(Succeed())
		}
		path := m.history().path("shop")
		m.between.Clear()
		Expect(env.Cluster.Restart(ctx, cluster.APIServer)).To(Succeed())
		copies, err := h.Stored(ctx, hostedworld.Private)
		Expect(err).NotTo(HaveOccurred())
		m.follow(ctx)
		m.until(ctx, "shop", "Private")
		AddReportEntry("copies when it went", len(copies))
		Expect(append(path, m.history().path("shop")...)).NotTo(ContainElement("Repausing"))
		expectMovedAway(m.take(ctx, h), before)
	}, SpecTimeout(8*time.Minute))
})

// endsServer lets the first creation through, and kills the API server at the second one; it says in which state that was.
func (m *moving) endsServer(h *hostedworld.Hosted, gone chan<- string) proxy.Fault {
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
			gone <- m.told(m.lives, h)
			env.Cluster.Kill(cluster.APIServer)
		}
		x.Reset()
	}
}
