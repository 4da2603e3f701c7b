package openshiftcontrolplane_test

import (
	"context"
	"maps"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// wrote notes the namespaces that a manager writes to, until the spec ends.
func wrote(m *capiworld.Manager) func() []string {
	var mu sync.Mutex
	spaces := map[string]bool{}
	rule := m.Between().Add(proxy.Rule{Verb: "write", Fault: func(x *proxy.Exchange) {
		mu.Lock()
		spaces[x.Request.Namespace] = true
		mu.Unlock()
		x.Pass()
	}})
	DeferCleanup(rule.End)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		delete(spaces, harness.CAPINamespace) // its recorder is there
		return slices.Sorted(maps.Keys(spaces))
	}
}

// share has two providers work beside each other, each with an argument of its own, on a cluster each, and a third one that is nobody's.
func share(ctx context.Context, argument func(*capiworld.Asked) string, dress func(*capiworld.Asked, string)) {
	GinkgoHelper()
	first, second := twoProviders(ctx)
	byFirst, bySecond := wrote(first), wrote(second)
	ones, others, nobodys := prepare(ctx, ""), prepare(ctx, ""), prepare(ctx, "")
	dress(ones, "blue")
	dress(others, "green")
	dress(nobodys, "")
	Expect(first.Start("--leader-elect=false", argument(ones))).To(Succeed())
	Expect(second.Start("--leader-elect=false", argument(others))).To(Succeed())
	since := mark(ctx)
	for _, asked := range []*capiworld.Asked{nobodys, ones, others} {
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
	}
	for _, asked := range []*capiworld.Asked{ones, others} {
		stands(ctx, asked.Key, "Installed")
		Expect(made(ctx, since, asked.Key)).To(HaveEach(1))
		Expect(bootstraps(ctx, since, asked.Key)).To(HaveLen(1), "creations of the bootstrap machine")
	}
	Expect(written(ctx, since, nobodys.Key)).To(BeEmpty())
	for _, asked := range []*capiworld.Asked{ones, others} {
		remove(ctx, asked.Key)
	}
	Expect(byFirst()).To(HaveExactElements(ones.Key.Namespace))
	Expect(bySecond()).To(HaveExactElements(others.Key.Namespace))
}

var _ = Describe("Two providers that share the work, each in its own right", Label(long), func() {
	It("have the clusters of the namespace that each is given", func(ctx SpecContext) {
		share(ctx, func(a *capiworld.Asked) string { return "--namespace=" + a.Key.Namespace }, func(*capiworld.Asked, string) {})
	}, SpecTimeout(5*patience))

	It("have the clusters whose label each is given, with all that is made for them", func(ctx SpecContext) {
		share(ctx,
			func(a *capiworld.Asked) string {
				return "--watch-filter=" + a.ControlPlane.GetLabels()[clusterv1.WatchLabel]
			},
			func(a *capiworld.Asked, colour string) {
				if colour != "" {
					a.ControlPlane.SetLabels(map[string]string{clusterv1.WatchLabel: colour})
				}
			})
	}, SpecTimeout(5*patience))
})
