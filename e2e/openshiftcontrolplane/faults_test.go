package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// fault is something that goes wrong, and is over when it returns.
type fault struct {
	name, doc string
	// guest says that it needs a guest that answers, kept a state whose work keeps the kubeconfig, configs one in which configs of machines
	// are there, and unstarted one in which a machine has its data Secret and no infrastructure.
	guest, kept, configs, unstarted bool
	// forgets says that it is lost how the cluster has come to its state.
	forgets bool
	happen  func(context.Context, *trial)
}

// trial is a cluster that is kept in a state.
type trial struct {
	stage
	*capiworld.Asked
	// before answers lists as they were before the cluster was asked for.
	before proxy.Fault
	// payload are the Ignition configs that were lost, by their Secrets.
	payload map[string][]byte
	// more is how often each machine was made once more, by its name.
	more map[string]int
}

var faults = []fault{
	{
		name: "API server refuses", doc: "Nearly every request fails: it is refused, or the connection breaks before or after the server has acted; every watch ends.",
		happen: func(ctx context.Context, _ *trial) {
			provider := world.Manager(capiworld.Provider)
			Expect(provider.Ready(ctx)).To(Succeed()) // one that has just been started would end again
			between := provider.Between()
			var rules []*proxy.Active
			for _, fault := range []proxy.Fault{proxy.Answer(http.StatusInternalServerError, 0), proxy.ResetBefore, proxy.ResetAfter} {
				rules = append(rules, between.Add(proxy.Rule{Probability: 0.3, Fault: fault}))
			}
			defer func() {
				for _, rule := range rules {
					rule.End()
				}
			}()
			eventually(ctx, "requests that fail", func(context.Context) error {
				for _, rule := range rules {
					if rule.Hits() < 2 {
						between.CutWatches("") // at rest hardly anything else is asked for
						return errors.New("there are too few of them")
					}
				}
				return nil
			})
		},
	}, {
		name: "stale lists", doc: "The provider is killed, and the next one is told lists from before the cluster was asked for; its watches go on from there.",
		happen: func(_ context.Context, t *trial) {
			rule := world.Manager(capiworld.Provider).Between().Add(proxy.Rule{Verb: "list", Fault: t.before})
			defer rule.End()
			replace()
			Consistently(world.Alive).WithTimeout(quiet).WithPolling(quiet / 3).Should(Succeed())
		},
	}, {
		name: "Cluster API stopped", doc: "Cluster API's own manager ends, and is started again.",
		happen: func(_ context.Context, t *trial) {
			core := world.Manager(capiworld.Core)
			Expect(core.Stop()).To(Succeed())
			defer func() { Expect(core.Start()).To(Succeed()) }()
			keeps(t)
		},
	}, {
		name: "infrastructure hangs", doc: "The infrastructure provider does nothing for a while, and neither does the guest, which takes connections and never answers.",
		happen: func(_ context.Context, t *trial) {
			dev := world.Manager(capiworld.Dev)
			Expect(dev.Hang()).To(Succeed())
			defer func() { Expect(dev.GoOn()).To(Succeed()) }()
			keeps(t)
		},
	}, {
		name: "provider killed", doc: "The provider ends by SIGKILL, and another one is started.",
		happen: func(context.Context, *trial) { replace() },
	}, {
		name: "status lost", doc: "Somebody removes the status of the OpenShiftControlPlane, as a move to another plane does.", forgets: true,
		happen: func(ctx context.Context, t *trial) { change(ctx, t, `[{"op":"remove","path":"/status"}]`) },
	}, {
		name: "record spoilt", doc: "The record in the status names a state that there is not.", forgets: true,
		happen: func(ctx context.Context, t *trial) {
			change(ctx, t, `[{"op":"add","path":"/status/machine","value":{"state":"Nowhere"}}]`)
		},
	}, {
		name: "marks lost", doc: "Somebody removes all annotations by which it is marked what cannot be taken back.",
		happen: func(ctx context.Context, t *trial) {
			standing, err := world.Standing(ctx, t.Key)
			Expect(err).NotTo(HaveOccurred())
			for name := range standing.Object.GetAnnotations() {
				if strings.HasPrefix(name, "capstan.openshift.io/") && name != "capstan.openshift.io/retry" { // what people ask for is no mark
					Expect(refine(ctx, standing.Object, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, name))).To(Succeed())
				}
			}
		},
	}, {
		name: "kubeconfig lost, and no room for it", doc: "Somebody deletes the Secret of the kubeconfig, and a quota allows no other Secret for a while.",
		happen: func(ctx context.Context, t *trial) {
			quota := allow(ctx, t.Key, "tight", "0")
			kubeconfig := capiworld.InstallSecret(t.Key, "")
			kubeconfig.Name = t.Key.Name + "-kubeconfig"
			Expect(client.IgnoreNotFound(world.API.Delete(ctx, kubeconfig))).To(Succeed())
			keeps(t)
			Expect(world.API.Delete(ctx, quota)).To(Succeed())
		},
	}, {
		name: "kubeconfig altered", doc: "Somebody writes nonsense into the Secret of the kubeconfig. It is put right.", kept: true,
		happen: func(ctx context.Context, t *trial) {
			name := t.Key.Name + "-kubeconfig"
			has(ctx, t.Key, "Secret "+name)
			Expect(refine(ctx, stored(ctx, t.Key, name), `{"stringData":{"value":"nonsense"}}`)).To(Succeed())
			eventually(ctx, "the kubeconfig to be one", func(ctx context.Context) error {
				_, err := world.Guest(ctx, t.Key)
				return err
			})
		},
	}, {
		name: "kubeconfig's authority lost", kept: true,
		doc:    "Somebody deletes the Secret of the guest's authority, and puts it back. Nobody makes another authority meanwhile, and the kubeconfig stays.",
		happen: authorityLost,
	}, {
		name: "payload altered", configs: true,
		doc: "Somebody writes nonsense into the Secret with the Ignition config of masters. Its bytes come back; in AwaitingAPI and Bootstrapping when the bootstrap is finished, at the latest.",
		happen: func(ctx context.Context, t *trial) {
			one := stored(ctx, t.Key, t.Key.Name+"-ignition-master")
			t.remember(one)
			Expect(refine(ctx, one, `{"stringData":{"value":"nonsense"}}`)).To(Succeed())
			if t.returns {
				t.hasPayload(ctx)
			}
		},
	}, {
		name: "payload lost", configs: true,
		doc: "Somebody deletes the Secrets with the Ignition configs of masters and workers. They come back with the same bytes; in AwaitingAPI and Bootstrapping when the bootstrap is finished, at the latest.",
		happen: func(ctx context.Context, t *trial) {
			for _, role := range []string{"master", "worker"} {
				one := stored(ctx, t.Key, t.Key.Name+"-ignition-"+role)
				t.remember(one)
				Expect(world.API.Delete(ctx, one)).To(Succeed())
			}
			if t.returns {
				t.hasPayload(ctx)
			}
		},
	}, {
		name: "data Secret lost or altered", unstarted: true,
		doc:    "Somebody deletes the data Secret of a machine that is not started yet, and writes nonsense into the next one. The same bytes come back.",
		happen: dataLost,
	}, {
		name:   "foreign object",
		doc:    "Somebody else has an OpenShiftConfig and an infrastructure machine of names that are the cluster's own, which it has not taken yet. They are neither taken up nor changed nor deleted.",
		happen: foreign,
	}, {
		name:   "infrastructure refuses",
		doc:    "No infrastructure machine may be created, and those that there are say that they cannot be had.",
		happen: unavailable,
	}, {
		name: "template gone", doc: "Somebody deletes the template of machines, and creates it again.",
		happen: func(ctx context.Context, t *trial) {
			Expect(world.API.Delete(ctx, again(t.Template))).To(Succeed())
			stands(ctx, t.Key, t.state)
			Expect(world.Create(ctx, again(t.Template))).To(Succeed())
		},
	}, {
		name: "guest slow", doc: "The guest lets everybody wait for each answer, so that all of them together take too long.", guest: true,
		happen: func(ctx context.Context, t *trial) { lacking(ctx, t, capiworld.NoHaste) },
	}, {
		name: "guest down", doc: "The guest's endpoint is closed.", guest: true,
		happen: func(ctx context.Context, t *trial) { lacking(ctx, t, capiworld.StepAPI) },
	}, {
		name: "guest refuses credentials", doc: "The guest takes nobody's certificate.", guest: true,
		happen: func(ctx context.Context, t *trial) { lacking(ctx, t, capiworld.NoCredentials) },
	}, {
		name: "guest lacks kinds", doc: "The guest does not serve the groups of OpenShift.", guest: true,
		happen: func(ctx context.Context, t *trial) { lacking(ctx, t, capiworld.NoKinds) },
	}, {
		name: "paused", forgets: true,
		doc: "The Cluster is paused, or the OpenShiftControlPlane where there is no Cluster, and goes on when that is over.",
		happen: func(ctx context.Context, t *trial) {
			t.pause(ctx, true)
			stands(ctx, t.Key, "Paused")
			t.pause(ctx, false)
		},
	}, {
		name: "clock jumps", doc: "The clock of the provider is set back by a minute, ahead by two, and right again.",
		happen: func(ctx context.Context, t *trial) {
			t.steered(ctx, func(provider *capiworld.Manager) {
				for _, by := range []time.Duration{-time.Minute, time.Minute, 0} {
					Expect(provider.SetClock(by)).To(Succeed())
					keeps(t)
				}
			})
		},
	},
}

// meet makes a cluster that comes to a state, has each fault happen in it, and lets it go on.
func meet(ctx context.Context, s stage) {
	GinkgoHelper()
	t := &trial{stage: s, Asked: prepareOf(ctx, max(s.replicas, 1), s.held), more: map[string]int{}}
	since := mark(ctx)
	var err error
	t.before, err = world.Manager(capiworld.Provider).Between().Stale(ctx)
	Expect(err).NotTo(HaveOccurred())
	t.begin(ctx)
	stands(ctx, t.Key, s.state)
	t.hasMachines(ctx, s.machines)
	for _, fault := range faults {
		if !fault.meets(s) {
			continue
		}
		By(fault.name)
		begun := time.Now()
		fault.happen(ctx, t)
		if fault.forgets && s.forgotten != "" {
			stands(ctx, t.Key, s.forgotten)
			s.back(ctx, t)
		}
		stands(ctx, t.Key, s.state)
		t.hasMachines(ctx, s.machines)
		AddReportEntry(fault.name, fmt.Sprintf("%.1f s", time.Since(begun).Seconds()))
	}
	t.end(ctx)
	for what, times := range made(ctx, since, t.Key) {
		_, name, _ := strings.Cut(what, " ")
		Expect(times).To(Equal(1+t.more[name]), "creations of "+what)
	}
	Expect(bootstraps(ctx, since, t.Key)).To(HaveLen(1 + t.more["one-bootstrap"]))
}

var _ = Describe("What goes wrong in a state, one after the other, loses no machine, makes none twice and heals by itself", Label(long), func() {
	for _, s := range stages {
		It(fmt.Sprintf("in state %s", s.state), func(ctx SpecContext) { meet(ctx, s) }, SpecTimeout(30*time.Minute))
	}
})
