package openshiftcontrolplane_test

import (
	"context"
	"maps"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// share has two providers work beside each other, each with an argument of its own, on a cluster with a worker each, and a third one that is
// nobody's. Control plane and workers are dressed in a colour.
func share(ctx context.Context, argument func(*capiworld.Asked) string, dress func(labels map[string]string, colour string)) {
	GinkgoHelper()
	first, second := twoProviders(ctx)
	byFirst, bySecond := wrote(first), wrote(second)
	ones, others, nobodys := prepare(ctx, ""), prepare(ctx, ""), prepare(ctx, "")
	colours := map[*capiworld.Asked]string{ones: "blue", others: "green"}
	for asked, colour := range colours {
		labels := map[string]string{}
		dress(labels, colour)
		asked.ControlPlane.SetLabels(labels)
	}
	Expect(first.Start("--leader-elect=false", argument(ones))).To(Succeed())
	Expect(second.Start("--leader-elect=false", argument(others))).To(Succeed())
	since := mark(ctx)
	for _, asked := range []*capiworld.Asked{nobodys, ones, others} {
		pool := workers(asked.Key)
		if colour := colours[asked]; colour != "" {
			dress(deploymentOf(pool).Spec.Template.Labels, colour)
		}
		Expect(world.Create(ctx, append(pool, asked.Objects()...)...)).To(Succeed())
	}
	for _, asked := range []*capiworld.Asked{ones, others} {
		stands(ctx, asked.Key, "Installed")
		has(ctx, asked.Key, "Secret "+worker(ctx, asked.Key, "Ready", "Frozen"))
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

// deploymentOf is the MachineDeployment among the objects of a pool of workers.
func deploymentOf(pool []client.Object) *clusterv1.MachineDeployment {
	GinkgoHelper()
	for _, o := range pool {
		if of, is := o.(*clusterv1.MachineDeployment); is {
			return of
		}
	}
	Fail("there is none")
	return nil
}

var _ = Describe("Two providers that share the work, each in its own right", Label(long), func() {
	It("have the clusters of the namespace that each is given", func(ctx SpecContext) {
		share(ctx, func(a *capiworld.Asked) string { return "--namespace=" + a.Key.Namespace }, func(map[string]string, string) {})
	}, SpecTimeout(5*patience))

	It("have the clusters whose label each is given, with all that is made for them", func(ctx SpecContext) {
		share(ctx,
			func(a *capiworld.Asked) string {
				return "--watch-filter=" + a.ControlPlane.GetLabels()[clusterv1.WatchLabel]
			},
			func(labels map[string]string, colour string) { labels[clusterv1.WatchLabel] = colour })
	}, SpecTimeout(5*patience))
})
