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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// fault is something that goes wrong, and is over when it returns.
type fault struct {
	name, doc string
	// guest says that it needs a guest that answers, and kept that it needs a state whose work keeps the Secrets of the cluster.
	guest  bool
	kept   bool
	happen func(context.Context, *trial)
}

// trial is a cluster that is kept in a state.
type trial struct {
	stage
	*capiworld.Asked
	// before answers lists as they were before the cluster was asked for.
	before proxy.Fault
	// payload are the Ignition configs that were lost, by their Secrets.
	payload map[string][]byte
}

var faults = []fault{
	{
		name: "API server refuses", doc: "Nearly every request fails: it is refused, or the connection breaks before or after the server has acted; every watch ends.",
		happen: func(ctx context.Context, _ *trial) {
			between := world.Manager(capiworld.Provider).Between()
			var rules []*proxy.Active
			for _, fault := range []proxy.Fault{proxy.Answer(http.StatusInternalServerError, 0), proxy.ResetBefore, proxy.ResetAfter} {
				rules = append(rules, between.Add(proxy.Rule{Probability: 0.3, Fault: fault}))
			}
			between.CutWatches("")
			eventually(ctx, "requests that fail", func(context.Context) error {
				for _, rule := range rules {
					if rule.Hits() < 2 {
						return errors.New("there are too few of them")
					}
				}
				return nil
			})
			for _, rule := range rules {
				rule.End()
			}
		},
	}, {
		name: "stale lists", doc: "The provider is killed, and the next one is told lists from before the cluster was asked for; its watches go on from there.",
		happen: func(_ context.Context, t *trial) {
			rule := world.Manager(capiworld.Provider).Between().Add(proxy.Rule{Verb: "list", Fault: t.before})
			replace()
			Consistently(world.Alive).WithTimeout(quiet).WithPolling(quiet / 3).Should(Succeed())
			rule.End()
		},
	}, {
		name: "Cluster API stopped", doc: "Cluster API's own manager ends, and is started again.",
		happen: func(_ context.Context, t *trial) {
			core := world.Manager(capiworld.Core)
			Expect(core.Stop()).To(Succeed())
			keeps(t)
			Expect(core.Start()).To(Succeed())
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
		name: "status lost", doc: "Somebody removes the status of the OpenShiftControlPlane, as a move to another plane does.",
		happen: func(ctx context.Context, t *trial) { change(ctx, t, `[{"op":"remove","path":"/status"}]`) },
	}, {
		name: "record spoilt", doc: "The record in the status names a state that there is not.",
		happen: func(ctx context.Context, t *trial) {
			change(ctx, t, `[{"op":"add","path":"/status/machine","value":{"state":"Nowhere"}}]`)
		},
	}, {
		name: "marks lost", doc: "Somebody removes all annotations by which it is marked what cannot be taken back.",
		happen: func(ctx context.Context, t *trial) {
			standing, err := world.Standing(ctx, t.Key)
			Expect(err).NotTo(HaveOccurred())
			for name := range standing.Object.GetAnnotations() {
				if strings.HasPrefix(name, "capstan.openshift.io/") {
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
		name: "payload lost", kept: true,
		doc: "Somebody deletes the Secrets with the Ignition configs of masters and workers. They come back with the same bytes; in AwaitingAPI and Bootstrapping when the bootstrap is finished, at the latest.",
		happen: func(ctx context.Context, t *trial) {
			t.payload = map[string][]byte{}
			for _, role := range []string{"master", "worker"} {
				one := stored(ctx, t.Key, t.Key.Name+"-ignition-"+role)
				t.payload[one.Name] = one.Data["value"]
				Expect(world.API.Delete(ctx, one)).To(Succeed())
			}
			if t.finished {
				t.hasPayload(ctx)
			}
		},
	}, {
		name: "template gone", doc: "Somebody deletes the template of machines, and creates it again.",
		happen: func(ctx context.Context, t *trial) {
			Expect(world.API.Delete(ctx, again(t.Template))).To(Succeed())
			stands(ctx, t.Key, t.state)
			Expect(world.Create(ctx, again(t.Template))).To(Succeed())
		},
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
		name: "paused", doc: "The Cluster is paused, and goes on when that is over.",
		happen: func(ctx context.Context, t *trial) {
			pauseCluster(ctx, t.Key, true)
			stands(ctx, t.Key, "Paused")
			pauseCluster(ctx, t.Key, false)
		},
	},
}

// replace kills the provider and starts another one.
func replace() {
	GinkgoHelper()
	provider := world.Manager(capiworld.Provider)
	provider.Kill()
	Expect(provider.Stop()).To(Succeed())
	Expect(provider.Start("--leader-elect=false")).To(Succeed())
}

// keeps looks for a while whether the state is kept.
func keeps(t *trial) {
	GinkgoHelper()
	ctx := context.Background()
	Consistently(func() error { return standsAt(ctx, t.Key, t.state) }).WithTimeout(2 * quiet).WithPolling(quiet / 3).Should(Succeed())
}

// lacking has a guest lack something for a while.
func lacking(ctx context.Context, t *trial, what string) {
	GinkgoHelper()
	Expect(world.Hold(ctx, t.Key, what+","+t.held)).To(Succeed())
	keeps(t)
	Expect(world.Hold(ctx, t.Key, t.held)).To(Succeed())
}

// change changes the status of a control plane by a JSON patch.
func change(ctx context.Context, t *trial, patch string) {
	GinkgoHelper()
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(t.ControlPlane.GroupVersionKind())
	of.SetNamespace(t.Key.Namespace)
	of.SetName(t.Key.Name)
	Expect(world.API.Status().Patch(ctx, of, client.RawPatch(types.JSONPatchType, []byte(patch)))).To(Succeed())
}

// again is an object as somebody creates it.
func again(of *unstructured.Unstructured) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": of.DeepCopy().Object["spec"]}}
	made.SetGroupVersionKind(of.GroupVersionKind())
	made.SetNamespace(of.GetNamespace())
	made.SetName(of.GetName())
	return made
}

// allow limits how many Secrets there may be in a cluster's namespace, and returns when that is in force.
func allow(ctx context.Context, key capiworld.Key, name, secrets string) *corev1.ResourceQuota {
	GinkgoHelper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse(secrets)}},
	}
	Expect(world.Create(ctx, quota)).To(Succeed())
	eventually(ctx, "the quota to be in force", func(ctx context.Context) error {
		err := world.API.Get(ctx, client.ObjectKeyFromObject(quota), quota)
		if err == nil && len(quota.Status.Hard) == 0 {
			err = errors.New("nobody has counted")
		}
		return err
	})
	return quota
}

// meet makes a cluster that comes to a state, has each fault happen in it, and lets it go on.
func meet(ctx context.Context, s stage) {
	GinkgoHelper()
	t := &trial{stage: s, Asked: prepare(ctx, s.held)}
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
		stands(ctx, t.Key, s.state)
		t.hasMachines(ctx, s.machines)
		AddReportEntry(fault.name, fmt.Sprintf("%.1f s", time.Since(begun).Seconds()))
	}
	t.end(ctx)
	for what, times := range made(ctx, since, t.Key) {
		Expect(times).To(Equal(1), "creations of "+what)
	}
	Expect(bootstraps(ctx, since, t.Key)).To(HaveLen(1))
}

var _ = Describe("What goes wrong in a state, one after the other, loses no machine, makes none twice and heals by itself", Label(long), func() {
	for _, s := range stages {
		It(fmt.Sprintf("in state %s", s.state), func(ctx SpecContext) { meet(ctx, s) }, SpecTimeout(20*time.Minute))
	}
})
