package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// several makes clusters of three control-plane machines at once, and has them installed and removed.
func several(ctx context.Context, number int) {
	GinkgoHelper()
	since := mark(ctx)
	var all []*capiworld.Asked
	for range number {
		all = append(all, ask(ctx, newKey(ctx), 3, ""))
	}
	for _, one := range all {
		stands(ctx, one.Key, "Installed")
		says(ctx, one.Key, "Available", metav1.ConditionTrue, "")
		objects := objectsOf(ctx, one.Key)
		Expect(machines(objects)).To(ConsistOf("Machine one-0", "Machine one-1", "Machine one-2"))
		Expect(objects).NotTo(ContainElement(ContainSubstring("bootstrap")))
		Expect(bootstraps(ctx, since, one.Key)).To(HaveLen(1), "creations of the bootstrap machine")
	}
	requests, err := world.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	user := world.Manager(capiworld.Provider).User
	own := requests.Where(func(r cluster.Request) bool { return r.User == user })
	AddReportEntry("requests and writes of a cluster", fmt.Sprintf("%d, %d", len(own)/number, len(own.Writes())/number))
	Expect(own.Where(func(r cluster.Request) bool { return r.Unauthorized })).To(BeEmpty(), "what it had no right to")
	for _, one := range all {
		remove(ctx, one.Key)
	}
}

var _ = Describe("Clusters that are made at once", func() {
	It("are installed and removed, two of them", func(ctx SpecContext) { several(ctx, 2) }, SpecTimeout(3*patience))
	It("are installed and removed, ten of them", Label(long), func(ctx SpecContext) { several(ctx, 10) }, SpecTimeout(20*time.Minute))
})
