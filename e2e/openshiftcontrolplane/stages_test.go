package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// stage is a state that a cluster is kept in, by steps that its guest does not take, by something that is not there yet, or by somebody
// who holds it.
type stage struct {
	state, how string
	// held are the steps that the guest does not take, and guest says that it answers all the same. keeps says that kubeconfig and payload
	// are there, and kept; finished that the bootstrap is.
	held                   string
	guest, keeps, finished bool
	// machines are those that there are in the state.
	machines []string
	// lacks is what is created last, ask changes what is asked for, and enter leads from there to the state. Each may be nil.
	lacks func(*trial) client.Object
	ask   func(context.Context, *trial)
	enter func(context.Context, *trial)
	// leave lets the cluster go on, beside its guest, and ends waits until it has. Without ends it is Installed, and removed.
	leave, ends func(context.Context, *trial)
}

var (
	withBootstrap = []string{"one-0", "one-bootstrap"}
	alone         = []string{"one-0"}
)

// holder is a finalizer by which a Machine stays, as one does whose infrastructure does not go.
const holder = "e2e.example.com/held"

var stages = []stage{
	{
		state: "AwaitingInfrastructure", how: "nobody has made the infrastructure's object",
		lacks: func(t *trial) client.Object { return t.DevCluster },
	}, {
		state: "ResolvingInputs", how: "the Secret with the install-config is not there",
		lacks: func(t *trial) client.Object { return t.Secret },
	}, {
		state: "GeneratingIgnition", how: "a quota allows no Secret but the one with the install-config",
		ask: func(ctx context.Context, t *trial) { allow(ctx, t.Key, "held", "1") },
		leave: func(ctx context.Context, t *trial) {
			quota := &unstructured.Unstructured{}
			quota.SetAPIVersion("v1")
			quota.SetKind("ResourceQuota")
			quota.SetNamespace(t.Key.Namespace)
			quota.SetName("held")
			Expect(world.API.Delete(ctx, quota)).To(Succeed())
		},
	}, {
		state: "CreatingMachines", how: "infrastructure machines are paused", machines: withBootstrap,
		ask: func(_ context.Context, t *trial) { halt(t) }, leave: goesOn,
	}, {
		state: "AwaitingAPI", how: "the guest does not answer", held: "api", keeps: true, machines: withBootstrap,
	}, {
		state: "Bootstrapping", how: "etcd has its member on the bootstrap machine", held: "etcd,operators", guest: true, keeps: true, machines: withBootstrap,
	}, {
		state: "RemovingBootstrap", how: "a hook is not met", guest: true, keeps: true, finished: true, machines: withBootstrap,
		ask:   func(_ context.Context, t *trial) { hook(t.Asked, "PreBootstrapRemoval", "BalancersAreTold", 3600) },
		leave: func(ctx context.Context, t *trial) { Expect(met(ctx, t.Key, "BalancersAreTold")).To(Succeed()) },
	}, {
		state: "Settling", how: "operators have not settled", held: "operators", guest: true, keeps: true, finished: true, machines: alone,
	}, {
		state: "Installed", how: "nothing holds it", guest: true, keeps: true, finished: true, machines: alone,
	}, {
		state: "Upgrading", how: "the guest does not come to the release that it is asked for", held: "upgrade", guest: true, keeps: true, finished: true, machines: alone,
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			asksFor(ctx, t.Asked, "4.22.1")
		},
		ends: func(ctx context.Context, t *trial) {
			eventually(ctx, "the guest to have 4.22.1", func(ctx context.Context) error { return runs(ctx, t.Key, "4.22.1") })
			t.vanishes(ctx)
		},
	}, {
		state: "Scaling", how: "the infrastructure machine of the second of three is paused", guest: true, keeps: true, finished: true, machines: []string{"one-0", "one-1"},
		ask: func(_ context.Context, t *trial) { spec(t.ControlPlane, "Managed", "management") },
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			halt(t)
			Expect(refine(ctx, again(t.Template), pausing(`""`))).To(Succeed())
			resize(ctx, t.Asked, 3)
		},
		leave: func(ctx context.Context, t *trial) {
			Expect(refine(ctx, again(t.Template), pausing("null"))).To(Succeed())
			goesOn(ctx, t)
		},
		ends: func(ctx context.Context, t *trial) {
			settles(ctx, t.Key, 3)
			t.vanishes(ctx)
		},
	}, {
		state: "Failed", how: "the guest did not answer in time", held: "api", machines: withBootstrap,
		ask: func(_ context.Context, t *trial) { spec(t.ControlPlane, int64(5), "timeouts", "apiSeconds") },
	}, {
		state: "Deleting", how: "a finalizer holds a Machine", guest: true, machines: alone,
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			holdMachine(ctx, t, true)
			Expect(world.API.Delete(ctx, capiworld.Cluster(t.Key, true))).To(Succeed())
		},
		leave: func(ctx context.Context, t *trial) { holdMachine(ctx, t, false) },
		ends:  func(ctx context.Context, t *trial) { t.vanishes(ctx) },
	},
}

// begin creates what asks for the cluster, and leads it to where the stage is entered.
func (t *trial) begin(ctx context.Context) {
	GinkgoHelper()
	if t.ask != nil {
		t.ask(ctx, t)
	}
	for _, o := range t.Objects() {
		if t.lacks == nil || o != t.lacks(t) {
			Expect(world.Create(ctx, o)).To(Succeed())
		}
	}
	if t.enter != nil {
		t.enter(ctx, t)
	}
}

// end lets the cluster go on, and waits until it has come to its end and is gone.
func (t *trial) end(ctx context.Context) {
	GinkgoHelper()
	if t.lacks != nil {
		Expect(world.Create(ctx, t.lacks(t))).To(Succeed())
	}
	if t.leave != nil {
		t.leave(ctx, t)
	}
	Expect(client.IgnoreNotFound(world.Hold(ctx, t.Key, ""))).To(Succeed())
	if t.ends != nil {
		t.ends(ctx, t)
		return
	}
	stands(ctx, t.Key, "Installed")
	t.hasMachines(ctx, alone)
	t.hasPayload(ctx)
	t.vanishes(ctx)
}

// hasPayload waits until the Ignition configs that were lost are back, as they were.
func (t *trial) hasPayload(ctx context.Context) {
	GinkgoHelper()
	for name, value := range t.payload {
		has(ctx, t.Key, "Secret "+name)
		Expect(stored(ctx, t.Key, name).Data["value"]).To(Equal(value), name)
	}
}

// vanishes has the cluster be deleted if nobody has yet, and waits until nothing is left.
func (t *trial) vanishes(ctx context.Context) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(world.API.Delete(ctx, capiworld.Cluster(t.Key, true)))).To(Succeed())
	// Nobody looks at a template that was made again after the inputs were frozen, so that the Cluster may not own it.
	Expect(client.IgnoreNotFound(world.API.Delete(ctx, again(t.Template)))).To(Succeed())
	eventually(ctx, "nothing to be left", func(ctx context.Context) error { return gone(ctx, t.Key) })
}

// hasMachines waits until the cluster has these Machines, and no other one.
func (t *trial) hasMachines(ctx context.Context, names []string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("Machines %v", names), func(ctx context.Context) error {
		objects, err := world.Objects(ctx, t.Key.Namespace)
		if err != nil {
			return err
		}
		var there []string
		for _, one := range machines(objects) {
			there = append(there, strings.TrimPrefix(one, "Machine "))
		}
		if !slices.Equal(there, names) {
			return fmt.Errorf("there are %v", there)
		}
		return nil
	})
}

// halt has infrastructure machines that are cloned from the template be paused, so that nothing comes of them.
func halt(t *trial) {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(t.Template.Object, "", "spec", "template", "metadata", "annotations", clusterv1.PausedAnnotation)).To(Succeed())
}

// pausing is a patch that has them be paused or not.
func pausing(value string) string {
	return fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{%q:%s}}}}}`, clusterv1.PausedAnnotation, value)
}

// goesOn lets every infrastructure machine that was halted go on.
func goesOn(ctx context.Context, t *trial) {
	GinkgoHelper()
	all, err := world.List(ctx, capiworld.Infrastructure.WithKind("DevMachine"), t.Key.Namespace)
	Expect(err).NotTo(HaveOccurred())
	for i := range all {
		Expect(refine(ctx, &all[i], fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, clusterv1.PausedAnnotation))).To(Succeed())
	}
}

// holdMachine puts the holder on the Machine of a cluster, or takes it off.
func holdMachine(ctx context.Context, t *trial, held bool) {
	GinkgoHelper()
	one := &clusterv1.Machine{}
	Expect(world.API.Get(ctx, client.ObjectKey{Namespace: t.Key.Namespace, Name: "one-0"}, one)).To(Succeed())
	before := client.MergeFrom(one.DeepCopy())
	one.Finalizers = slices.DeleteFunc(one.Finalizers, func(name string) bool { return name == holder })
	if held {
		one.Finalizers = append(one.Finalizers, holder)
	}
	Expect(world.API.Patch(ctx, one, before)).To(Succeed())
}
