package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// infraMachines are the UIDs of the infrastructure machines of a cluster, by name.
func infraMachines(ctx context.Context, key capiworld.Key) map[string]types.UID {
	GinkgoHelper()
	found, err := world.List(ctx, capiworld.Infrastructure.WithKind("DevMachine"), key.Namespace)
	Expect(err).NotTo(HaveOccurred())
	all := map[string]types.UID{}
	for i := range found {
		all[found[i].GetName()] = found[i].GetUID()
	}
	return all
}

// made is how often each of a cluster's machines was made, by resource and name.
func made(ctx context.Context, since cluster.Mark, key capiworld.Key) map[string]int {
	GinkgoHelper()
	all, err := world.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	times := map[string]int{}
	for _, r := range all {
		if r.Namespace == key.Namespace && r.Verb == "create" && r.Code == http.StatusCreated && r.Subresource == "" {
			switch r.Resource {
			case "machines", "devmachines", "openshiftconfigs":
				times[r.Resource+" "+r.Name]++
			}
		}
	}
	return times
}

// counted counts the Machines that a manager makes.
func counted(m *capiworld.Manager) *proxy.Active {
	return m.Between().Add(proxy.Rule{Verb: "create", Resource: "machines", Fault: (*proxy.Exchange).Pass})
}

// twoProviders are two that do not run, as replicas of one Deployment; afterwards one runs, as before.
func twoProviders(ctx context.Context) (first, second *capiworld.Manager) {
	GinkgoHelper()
	first, second = world.Manager(capiworld.Provider), world.Manager(capiworld.Provider+"-2")
	if second == nil {
		var err error
		second, err = world.Another(ctx, capiworld.Provider, capiworld.Provider+"-2")
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(first.Stop()).To(Succeed())
	DeferCleanup(func() {
		Expect(errors.Join(first.Stop(), second.Stop())).To(Succeed())
		first.Between().CountWrites()
		second.Between().CountWrites()
		Expect(first.Start()).To(Succeed())
	})
	return first, second
}

// inTurns runs two providers, of which the one that has the Lease is killed after a few writes and started again, until a question is
// answered with nil, and says how often. The Lease's own writes count, too.
func inTurns(ctx context.Context, first, second *capiworld.Manager, reached func(context.Context) error) (killed int) {
	GinkgoHelper()
	begin := func(m *capiworld.Manager) <-chan struct{} {
		ended := m.Between().EndAfter(lives[killed%len(lives)]+2, m.Kill)
		Expect(m.Start()).To(Succeed())
		return ended
	}
	byFirst, bySecond := begin(first), begin(second)
	for {
		var dead *capiworld.Manager
		is := false
		eventually(ctx, "a provider to be killed, or both to be done", func(ctx context.Context) error {
			select {
			case <-byFirst:
				dead = first
				return nil
			case <-bySecond:
				dead = second
				return nil
			default:
			}
			err := reached(ctx)
			is = err == nil
			return err
		})
		if is {
			first.Between().CountWrites()
			second.Between().CountWrites()
			return killed
		}
		killed++
		if dead == first {
			byFirst = begin(first)
		} else {
			bySecond = begin(second)
		}
	}
}

var _ = Describe("What is made once", Label(long), func() {
	It("is taken up by a provider whose forerunner was killed between an infrastructure machine and its Machine", func(ctx SpecContext) {
		key, since, provider := newKey(ctx), mark(ctx), world.Manager(capiworld.Provider)
		// It never hears that it is made.
		rule := provider.Between().Add(proxy.Rule{Verb: "create", Resource: "devmachines", Count: 1, Fault: proxy.Swallow})
		ask(ctx, key, 1, "")
		eventually(ctx, "an infrastructure machine", func(ctx context.Context) error {
			if len(infraMachines(ctx, key)) == 0 {
				return errors.New("there is none")
			}
			return nil
		})
		provider.Kill()
		rule.End()
		before := infraMachines(ctx, key)
		Expect(machines(objectsOf(ctx, key))).To(HaveLen(len(before) - 1))

		Expect(provider.Start("--leader-elect=false")).To(Succeed())
		DeferCleanup(func() {
			Expect(provider.Stop()).To(Succeed())
			Expect(provider.Start()).To(Succeed())
		})
		stands(ctx, key, "Installed")
		Expect(made(ctx, since, key)).To(HaveEach(1))
		Expect(machines(objectsOf(ctx, key))).To(ConsistOf("Machine one-0"))
		Expect(infraMachines(ctx, key)).To(HaveLen(1))
		remove(ctx, key)
	}, SpecTimeout(10*time.Minute))

	It("is made by one of two providers, and the other one goes on when the first is killed", func(ctx SpecContext) {
		first, second := twoProviders(ctx)
		byFirst, bySecond := counted(first), counted(second)
		DeferCleanup(byFirst.End)
		DeferCleanup(bySecond.End)
		Expect(first.Start()).To(Succeed())
		Expect(second.Start()).To(Succeed())
		key, since := newKey(ctx), mark(ctx)
		ask(ctx, key, 3, "complete")
		eventually(ctx, "some Machine", func(ctx context.Context) error {
			if n := len(machines(objectsOf(ctx, key))); n == 0 {
				return errors.New("there is none")
			}
			return nil
		})
		leader, of := first, bySecond
		if byFirst.Hits() == 0 {
			leader, of = second, byFirst
		}
		leader.Kill()
		Expect(of.Hits()).To(BeZero(), "Machines made by who has no Lease")

		Expect(world.Hold(ctx, key, "")).To(Succeed())
		stands(ctx, key, "Installed") // which the one that was killed cannot have brought about
		Expect(made(ctx, since, key)).To(HaveEach(1))
		Expect(machines(objectsOf(ctx, key))).To(ConsistOf("Machine one-0", "Machine one-1", "Machine one-2"))
		Expect(bootstraps(ctx, since, key)).To(HaveLen(1), "creations of the bootstrap machine")
		remove(ctx, key)
	}, SpecTimeout(10*time.Minute))

	It("is made by two providers that are killed in turns", func(ctx SpecContext) {
		undisturbed := newKey(ctx)
		objects := install(ctx, undisturbed)
		remove(ctx, undisturbed)
		first, second := twoProviders(ctx)
		key, since := newKey(ctx), mark(ctx)
		ask(ctx, key, 1, "")
		// None lives for the half minute that operators have to be healthy.
		killed := inTurns(ctx, first, second, func(ctx context.Context) error { return standsAt(ctx, key, "Settling") })
		stands(ctx, key, "Installed")
		AddReportEntry("how often one was killed", killed)
		Expect(killed).To(BeNumerically(">=", 4))
		Expect(made(ctx, since, key)).To(HaveEach(1))
		Expect(bootstraps(ctx, since, key)).To(HaveLen(1), "creations of the bootstrap machine")
		Expect(objectsOf(ctx, key)).To(Equal(objects))
	}, SpecTimeout(20*time.Minute))
})
