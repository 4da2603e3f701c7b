package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// most is how often a provider is killed on the way of one cluster at most.
const most = 200

var _ = Describe("A provider that is killed after a few writes again and again", Label(long), func() {
	It("makes one bootstrap machine, and what an undisturbed one makes", func(ctx SpecContext) {
		first := newKey(ctx)
		undisturbed := install(ctx, first)
		remove(ctx, first)
		since := mark(ctx)
		asked := ask(ctx, newKey(ctx), 1, "")
		killed := killUntil(ctx, func(ctx context.Context) error { return standsAt(ctx, asked.Key, "Installed") })
		AddReportEntry("how often it was killed", killed)
		Expect(killed).To(BeNumerically(">=", 20))

		objects, err := world.Objects(ctx, asked.Key.Namespace)
		Expect(err).NotTo(HaveOccurred())
		Expect(objects).To(Equal(undisturbed))
		Expect(bootstraps(ctx, since, asked.Key)).To(HaveLen(1), "creations of the bootstrap machine")
	}, SpecTimeout(15*time.Minute))

	It("leaves nothing of a cluster that is deleted", func(ctx SpecContext) {
		key := newKey(ctx)
		install(ctx, key)
		Expect(world.API.Delete(ctx, capiworld.Cluster(key, true))).To(Succeed())
		killed := killUntil(ctx, func(ctx context.Context) error { return gone(ctx, key) })
		AddReportEntry("how often it was killed", killed)
	}, SpecTimeout(10*time.Minute))
})

// lives are how many writes a provider makes before it is killed, one after the other. Some are long enough for what it repeats before
// it comes to something new.
var lives = []int{1, 2, 3, 1, 2, 8}

// killUntil kills the provider after a few writes, and starts it again, until a question is answered with nil.
func killUntil(ctx context.Context, reached func(context.Context) error) int {
	GinkgoHelper()
	provider := world.Manager(capiworld.Provider)
	DeferCleanup(func() {
		Expect(provider.Stop()).To(Succeed())
		provider.Between().CountWrites()
		Expect(provider.Start()).To(Succeed())
	})
	for killed := range most {
		Expect(provider.Stop()).To(Succeed())
		ended := provider.Between().EndAfter(lives[killed%len(lives)], provider.Kill)
		// What was killed holds a Lease for longer than it lived.
		Expect(provider.Start("--leader-elect=false")).To(Succeed())
		if reachedBefore(ctx, ended, reached) {
			return killed
		}
	}
	Fail(fmt.Sprintf("it was killed %d times, and is not there", most))
	return 0
}

// reachedBefore says whether a question is answered with nil before the provider is killed.
func reachedBefore(ctx context.Context, ended <-chan struct{}, reached func(context.Context) error) bool {
	GinkgoHelper()
	attempt, answered := harness.Unless(ended, reached)
	eventually(ctx, "the provider to be killed or done", attempt)
	return *answered
}

// bootstraps are the requests that made a bootstrap machine of a cluster.
func bootstraps(ctx context.Context, since cluster.Mark, key capiworld.Key) cluster.RequestList {
	GinkgoHelper()
	all, err := world.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	return all.Where(func(r cluster.Request) bool {
		return r.Resource == "machines" && r.Verb == "create" && r.Code == http.StatusCreated && r.Namespace == key.Namespace &&
			r.Subresource == "" && r.Name == key.Name+"-bootstrap"
	})
}
