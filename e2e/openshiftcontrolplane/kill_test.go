package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// most is how often a provider is killed on the way of one cluster at most.
const most = 200

var _ = Describe("A provider that is killed after each few of its writes", Label(long), func() {
	It("makes one bootstrap machine, and what an undisturbed one makes", func(ctx SpecContext) {
		undisturbed := install(ctx, newKey(ctx))
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

// killUntil kills the provider after one to three writes, and starts it again, until a question is answered with nil.
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
		// A life that begins with a write that leads nowhere, such as of its recorder, comes to another one sooner or later.
		ended := provider.Between().EndAfter(1+killed%3, provider.Kill)
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
	is := false
	eventually(ctx, "the provider to be killed or done", func(ctx context.Context) error {
		select {
		case <-ended:
			return nil
		default:
		}
		err := reached(ctx)
		is = err == nil
		return err
	})
	return is
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

func mark(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	since, err := world.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return since
}

// ask creates what asks for a cluster, whose guest holds some steps back.
func ask(ctx context.Context, key capiworld.Key, replicas int, held string) *capiworld.Asked {
	GinkgoHelper()
	image, err := world.Release(ctx, release)
	Expect(err).NotTo(HaveOccurred())
	asked := world.Ask(key, replicas, image, held)
	Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
	return asked
}

// install makes a cluster of one control-plane machine, and returns the objects that there are then.
func install(ctx context.Context, key capiworld.Key) []string {
	GinkgoHelper()
	ask(ctx, key, 1, "")
	stands(ctx, key, "Installed")
	objects, err := world.Objects(ctx, key.Namespace)
	Expect(err).NotTo(HaveOccurred())
	return objects
}

// stands waits until the control plane of a cluster is in a state.
func stands(ctx context.Context, key capiworld.Key, state string) {
	GinkgoHelper()
	eventually(ctx, key.String()+" to be "+state, func(ctx context.Context) error { return standsAt(ctx, key, state) })
}

func standsAt(ctx context.Context, key capiworld.Key, state string) error {
	standing, err := world.Standing(ctx, key)
	if err != nil {
		return err
	}
	return standing.Is(state)
}

// gone is nil once nothing is left of a cluster but its inputs.
func gone(ctx context.Context, key capiworld.Key) error {
	objects, err := world.Objects(ctx, key.Namespace)
	if err != nil {
		return err
	}
	if len(objects) == 1 && objects[0] == "Secret "+key.Name+"-install" {
		return nil
	}
	return errors.Join(fmt.Errorf("these are left: %q", objects), err)
}
