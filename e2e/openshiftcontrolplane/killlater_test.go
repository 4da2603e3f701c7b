package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// failed makes a cluster whose API is too late.
func failed(ctx context.Context, key capiworld.Key) *capiworld.Asked {
	GinkgoHelper()
	image, err := world.Release(ctx, release)
	Expect(err).NotTo(HaveOccurred())
	asked := world.Ask(key, 1, image, "api")
	Expect(unstructured.SetNestedField(asked.ControlPlane.Object, int64(5), "spec", "timeouts", "apiSeconds")).To(Succeed())
	Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
	stands(ctx, key, "Failed")
	return asked
}

// scratch asks for another attempt, which has all the time it wants.
func scratch(ctx context.Context, a *capiworld.Asked) {
	GinkgoHelper()
	const patch = `{"metadata":{"annotations":{"capstan.openshift.io/retry":"from-scratch-1"}},"spec":{"timeouts":null}}`
	Expect(refine(ctx, a.ControlPlane, patch)).To(Succeed())
}

var _ = Describe("A provider that is killed after a few writes again and again, later on", Label(long), func() {
	It("upgrades a cluster", func(ctx SpecContext) {
		asked := ask(ctx, newKey(ctx), 1, "")
		stands(ctx, asked.Key, "Installed")
		before := objectsOf(ctx, asked.Key)
		since := mark(ctx)
		asksFor(ctx, asked, "4.22.1")
		killed := killUntil(ctx, func(ctx context.Context) error { return runs(ctx, asked.Key, "4.22.1") })
		AddReportEntry("how often it was killed", killed)
		Expect(killed).To(BeNumerically(">=", 2))
		Expect(objectsOf(ctx, asked.Key)).To(Equal(before))
		Expect(made(ctx, since, asked.Key)).To(BeEmpty())
	}, SpecTimeout(10*time.Minute))

	It("has as many machines as asked for, and makes none twice", func(ctx SpecContext) {
		first := newKey(ctx)
		installManaged(ctx, first, 3)
		undisturbed := objectsOf(ctx, first)
		asked := installManaged(ctx, newKey(ctx), 1)
		before, since := objectsOf(ctx, asked.Key), mark(ctx)

		resize(ctx, asked, 3)
		killed := killUntil(ctx, func(ctx context.Context) error { return settled(ctx, asked.Key, 3) })
		AddReportEntry("how often it was killed on the way up", killed)
		Expect(killed).To(BeNumerically(">=", 5))
		Expect(objectsOf(ctx, asked.Key)).To(Equal(undisturbed))
		once := map[string]int{}
		for _, n := range []int{1, 2} {
			for _, kind := range []string{"machines", "devmachines", "openshiftconfigs"} {
				once[fmt.Sprintf("%s one-%d", kind, n)] = 1
			}
		}
		Expect(made(ctx, since, asked.Key)).To(Equal(once))

		resize(ctx, asked, 1)
		killed = killUntil(ctx, func(ctx context.Context) error { return settled(ctx, asked.Key, 1) })
		AddReportEntry("how often it was killed on the way down", killed)
		Expect(objectsOf(ctx, asked.Key)).To(Equal(before))
		Expect(made(ctx, since, asked.Key)).To(Equal(once))
		Expect(deleted(ctx, since, asked.Key)).To(HaveExactElements("one-2", "one-1"))
	}, SpecTimeout(15*time.Minute))

	It("replaces a machine that is unhealthy, once", func(ctx SpecContext) {
		asked := installManaged(ctx, newKey(ctx), 3)
		objects, before, since := objectsOf(ctx, asked.Key), uids(ctx, asked.Key), mark(ctx)
		Expect(world.Create(ctx, checked(asked.Key))).To(Succeed())
		breaks(ctx, asked.Key, "one-1")
		killed := killUntil(ctx, func(ctx context.Context) error { return replaced(ctx, asked.Key, "one-1", before) })
		AddReportEntry("how often it was killed", killed)
		Expect(objectsOf(ctx, asked.Key)).To(Equal(objects))
		Expect(deleted(ctx, since, asked.Key)).To(HaveExactElements("one-1"))
		Expect(made(ctx, since, asked.Key)).To(Equal(map[string]int{"machines one-1": 1, "devmachines one-1": 1, "openshiftconfigs one-1": 1}))
	}, SpecTimeout(10*time.Minute))

	It("clears an attempt away and makes another one, with another bootstrap machine", func(ctx SpecContext) {
		first := newKey(ctx)
		undisturbed := install(ctx, first)
		since := mark(ctx)
		asked := failed(ctx, newKey(ctx))
		Expect(bootstraps(ctx, since, asked.Key)).To(HaveLen(1), "bootstrap machines of the first attempt")
		since = mark(ctx)
		scratch(ctx, asked)
		Expect(world.Hold(ctx, asked.Key, "")).To(Succeed())
		killed := killUntil(ctx, func(ctx context.Context) error { return standsAt(ctx, asked.Key, "Installed") })
		AddReportEntry("how often it was killed", killed)
		Expect(killed).To(BeNumerically(">=", 20))
		Expect(objectsOf(ctx, asked.Key)).To(Equal(undisturbed))
		Expect(bootstraps(ctx, since, asked.Key)).To(HaveLen(1), "bootstrap machines of the second attempt")
		Expect(made(ctx, since, asked.Key)).To(HaveEach(1))
	}, SpecTimeout(20*time.Minute))
})
