package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// stage is a state that a cluster is kept in, by steps that its guest does not take, by something that is not there yet, or by somebody
// who holds it.
type stage struct {
	state, how string
	// held are the steps that the guest does not take, and guest says that it answers all the same. keeps says that the kubeconfig is
	// there, and kept; returns that configs of machines come back in the state that were lost.
	held                  string
	guest, keeps, returns bool
	// machines are those that there are in the state, of so many control-plane machines that are asked for, 0 for one. unstarted is one
	// of them that has its data Secret and no infrastructure yet, empty for none.
	machines  []string
	replicas  int
	unstarted string
	// rests says that the guest is asked rarely.
	rests bool
	// forgotten is the state to which a cluster comes that has lost how it came to this one, and back leads it here again. Without, it
	// comes here by itself.
	forgotten string
	back      func(context.Context, *trial)
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
	three         = []string{"one-0", "one-1", "one-2"}
)

var stages = []stage{
	{
		state: "Pending", how: "nobody has made the Cluster",
		lacks: func(t *trial) client.Object { return t.Cluster },
	}, {
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
		state: "CreatingMachines", how: "infrastructure machines are paused", returns: true, machines: withBootstrap, unstarted: "one-0",
		ask: func(_ context.Context, t *trial) { halt(t) }, leave: goesOn,
	}, {
		state: "AwaitingAPI", how: "the guest does not answer", held: "api", keeps: true, machines: withBootstrap,
	}, {
		state: "Bootstrapping", how: "etcd has its member on the bootstrap machine", held: "etcd,operators", guest: true, keeps: true, machines: withBootstrap,
	}, {
		state: "RemovingBootstrap", how: "a hook is not met", guest: true, keeps: true, returns: true, machines: withBootstrap,
		ask:   func(_ context.Context, t *trial) { hook(t.Asked, "PreBootstrapRemoval", "BalancersAreTold", 3600) },
		leave: func(ctx context.Context, t *trial) { Expect(met(ctx, t.Key, "BalancersAreTold")).To(Succeed()) },
	}, {
		state: "Settling", how: "operators have not settled", held: "operators", guest: true, keeps: true, returns: true, machines: alone,
	}, {
		state: "Installed", how: "nothing holds it", guest: true, rests: true, keeps: true, returns: true, machines: alone,
	}, {
		state: "Upgrading", how: "the guest does not come to the release that it is asked for", held: "upgrade", guest: true, keeps: true, returns: true, machines: alone,
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			asksFor(ctx, t.Asked, "4.22.1")
		},
		ends: func(ctx context.Context, t *trial) {
			eventually(ctx, "the guest to have 4.22.1", func(ctx context.Context) error { return runs(ctx, t.Key, "4.22.1") })
			t.vanishes(ctx)
		},
	}, {
		state: "Scaling", how: "the infrastructure machine of the second of three is paused", guest: true, keeps: true, returns: true, machines: []string{"one-0", "one-1"}, unstarted: "one-1",
		ask: managed,
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			haltNew(ctx, t)
			resize(ctx, t.Asked, 3)
		},
		leave: haltNoMore,
		ends: func(ctx context.Context, t *trial) {
			settles(ctx, t.Key, 3)
			t.vanishes(ctx)
		},
	}, {
		state: "Remediating", how: "the infrastructure machine that takes the place of an unhealthy one is paused", guest: true, keeps: true, returns: true,
		machines: three, replicas: 3, unstarted: "one-1",
		ask: managed,
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			Expect(world.Create(ctx, checked(t.Key))).To(Succeed())
			t.replace(ctx, "one-1")
		},
		forgotten: "Scaling",
		back: func(ctx context.Context, t *trial) {
			haltNoMore(ctx, t)
			settles(ctx, t.Key, 3)
			t.replace(ctx, "one-1")
		},
		leave: haltNoMore,
		ends: func(ctx context.Context, t *trial) {
			settles(ctx, t.Key, 3)
			t.vanishes(ctx)
		},
	}, {
		state: "Degraded", how: "an operator of the guest is degraded", guest: true, rests: true, keeps: true, returns: true, machines: alone,
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Installed")
			degrade(ctx, t.Key, "network", configv1.ConditionTrue)
			t.ages(ctx)
		},
		forgotten: "Settling",
		back:      func(ctx context.Context, t *trial) { t.ages(ctx) },
		leave:     func(ctx context.Context, t *trial) { degrade(ctx, t.Key, "network", configv1.ConditionFalse) },
	}, {
		state: "Failed", how: "the guest did not answer in time", held: "api", machines: withBootstrap,
		ask: func(_ context.Context, t *trial) { spec(t.ControlPlane, int64(5), "timeouts", "apiSeconds") },
	}, {
		state: "Clearing", how: "a finalizer holds a Machine of an attempt that has failed", held: "api", machines: withBootstrap,
		ask: func(_ context.Context, t *trial) { spec(t.ControlPlane, int64(5), "timeouts", "apiSeconds") },
		enter: func(ctx context.Context, t *trial) {
			stands(ctx, t.Key, "Failed")
			holdMachine(ctx, t, true)
			scratch(ctx, t.Asked)
			t.more["one-0"]++
			t.more["one-bootstrap"]++
		},
		leave: func(ctx context.Context, t *trial) { holdMachine(ctx, t, false) },
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

// hasPayload waits until the Ignition configs that were lost or altered are back, as they were.
func (t *trial) hasPayload(ctx context.Context) {
	GinkgoHelper()
	for name, value := range t.payload {
		holds(ctx, t.Key, name, map[string][]byte{"value": value})
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
