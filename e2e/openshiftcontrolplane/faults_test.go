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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// stage is a state that a cluster is kept in, by a guest that holds steps back or by something that is not there yet.
type stage struct {
	state, held string
	lacks       func(*capiworld.Asked) client.Object
}

// fault is something that goes wrong, and is over when it returns.
type fault struct {
	name   string
	happen func(context.Context, stage, *capiworld.Asked)
}

var faults = []fault{
	{"the API server refuses, breaks connections off and ends every watch", func(ctx context.Context, _ stage, _ *capiworld.Asked) {
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
		between.Clear()
	}},
	{"Cluster API's own manager stops", func(ctx context.Context, s stage, a *capiworld.Asked) {
		core := world.Manager(capiworld.Core)
		Expect(core.Stop()).To(Succeed())
		stands(ctx, a.Key, s.state)
		Expect(core.Start()).To(Succeed())
	}},
	{"the provider is killed", func(context.Context, stage, *capiworld.Asked) {
		provider := world.Manager(capiworld.Provider)
		provider.Kill()
		Expect(provider.Stop()).To(Succeed())
		Expect(provider.Start("--leader-elect=false")).To(Succeed())
	}},
	{"the status is lost", func(ctx context.Context, _ stage, a *capiworld.Asked) {
		change(ctx, a, `[{"op":"remove","path":"/status"}]`)
	}},
	{"the record is spoilt", func(ctx context.Context, _ stage, a *capiworld.Asked) {
		change(ctx, a, `[{"op":"add","path":"/status/machine","value":{"state":"Nowhere"}}]`)
	}},
	{"the marks are lost", func(ctx context.Context, _ stage, a *capiworld.Asked) {
		standing, err := world.Standing(ctx, a.Key)
		Expect(err).NotTo(HaveOccurred())
		for name := range standing.Object.GetAnnotations() {
			if strings.HasPrefix(name, "capstan.openshift.io/") {
				Expect(refine(ctx, standing.Object, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, name))).To(Succeed())
			}
		}
	}},
	{"the kubeconfig is deleted", func(ctx context.Context, _ stage, a *capiworld.Asked) {
		kubeconfig := capiworld.InstallSecret(a.Key, "")
		kubeconfig.Name = a.Key.Name + "-kubeconfig"
		Expect(client.IgnoreNotFound(world.API.Delete(ctx, kubeconfig))).To(Succeed())
	}},
	{"the template of machines is deleted, and made again", func(ctx context.Context, s stage, a *capiworld.Asked) {
		Expect(world.API.Delete(ctx, a.Template)).To(Succeed())
		stands(ctx, a.Key, s.state)
		Expect(world.Create(ctx, capiworld.MachineTemplate(a.Key))).To(Succeed())
	}},
	{"the guest is down", func(ctx context.Context, s stage, a *capiworld.Asked) {
		if s.lacks != nil { // there is no guest to hold
			return
		}
		Expect(world.Hold(ctx, a.Key, "api,"+s.held)).To(Succeed())
		Consistently(func() error { return standsAt(ctx, a.Key, s.state) }).WithTimeout(2 * quiet).WithPolling(quiet / 3).Should(Succeed())
		Expect(world.Hold(ctx, a.Key, s.held)).To(Succeed())
	}},
	{"the cluster is paused for a while", func(ctx context.Context, _ stage, a *capiworld.Asked) {
		pauseCluster(ctx, a.Key, true)
		stands(ctx, a.Key, "Paused")
		pauseCluster(ctx, a.Key, false)
	}},
}

// change changes the status of a control plane by a JSON patch.
func change(ctx context.Context, a *capiworld.Asked, patch string) {
	GinkgoHelper()
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(a.ControlPlane.GroupVersionKind())
	of.SetNamespace(a.Key.Namespace)
	of.SetName(a.Key.Name)
	Expect(world.API.Status().Patch(ctx, of, client.RawPatch(types.JSONPatchType, []byte(patch)))).To(Succeed())
}

// meet makes a cluster that comes to a state, has each fault happen in it, and lets it go on.
func meet(ctx context.Context, s stage) {
	GinkgoHelper()
	asked := prepare(ctx, s.held)
	since := mark(ctx)
	var lacking client.Object
	if s.lacks != nil {
		lacking = s.lacks(asked)
	}
	for _, o := range asked.Objects() {
		if o != lacking {
			Expect(world.Create(ctx, o)).To(Succeed())
		}
	}
	stands(ctx, asked.Key, s.state)
	before := machines(objectsOf(ctx, asked.Key))
	for _, fault := range faults {
		By(fault.name)
		fault.happen(ctx, s, asked)
		stands(ctx, asked.Key, s.state)
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf(before), fault.name)
	}
	if lacking != nil {
		Expect(world.Create(ctx, lacking)).To(Succeed())
	}
	Expect(world.Hold(ctx, asked.Key, "")).To(Succeed())
	stands(ctx, asked.Key, "Installed")
	for what, times := range made(ctx, since, asked.Key) {
		Expect(times).To(Equal(1), "creations of "+what)
	}
	Expect(bootstraps(ctx, since, asked.Key)).To(HaveLen(1))
	Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0"))
	// Nobody looks at the one that was made again after the inputs were frozen, so that the Cluster does not own it.
	Expect(world.API.Delete(ctx, capiworld.MachineTemplate(asked.Key))).To(Succeed())
	remove(ctx, asked.Key)
}

var _ = Describe("What goes wrong in a state, one after the other, loses no machine, makes none twice and heals by itself", Label(long), func() {
	for _, s := range []stage{
		{state: "AwaitingInfrastructure", lacks: func(a *capiworld.Asked) client.Object { return a.DevCluster }},
		{state: "ResolvingInputs", lacks: func(a *capiworld.Asked) client.Object { return a.Secret }},
		{state: "AwaitingAPI", held: "api"},
		{state: "Bootstrapping", held: "etcd,operators"},
		{state: "Settling", held: "operators"},
		{state: "Installed"},
	} {
		It(fmt.Sprintf("in state %s", s.state), func(ctx SpecContext) { meet(ctx, s) }, SpecTimeout(10*time.Minute))
	}
})
