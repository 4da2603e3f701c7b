package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// holder is a finalizer by which a Machine stays, as one does whose infrastructure does not go.
const holder = "e2e.example.com/held"

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

// managed has control-plane Machines stay ours.
func managed(_ context.Context, t *trial) { spec(t.ControlPlane, "Managed", "management") }

// haltNew has nothing come of infrastructure machines that are made from now on, and haltNoMore lets all of them go on.
func haltNew(ctx context.Context, t *trial) {
	GinkgoHelper()
	halt(t)
	Expect(refine(ctx, again(t.Template), pausing(`""`))).To(Succeed())
}

func haltNoMore(ctx context.Context, t *trial) {
	GinkgoHelper()
	unstructured.RemoveNestedField(t.Template.Object, "spec", "template", "metadata")
	Expect(refine(ctx, again(t.Template), pausing("null"))).To(Succeed())
	goesOn(ctx, t)
}

// replace has a Machine be found unhealthy, and waits until another one has come in its place, of which nothing comes.
func (t *trial) replace(ctx context.Context, name string) {
	GinkgoHelper()
	before := uids(ctx, t.Key)
	haltNew(ctx, t)
	breaks(ctx, t.Key, name)
	eventually(ctx, "another Machine "+name, func(ctx context.Context) error {
		if now := uids(ctx, t.Key)[name]; now == "" || now == before[name] {
			return errors.New("there is none")
		}
		return nil
	})
	t.more[name]++
}

// ages has time go by for the provider of the cluster, a minute at a time, until the state is there that only time brings about.
func (t *trial) ages(ctx context.Context) {
	GinkgoHelper()
	t.steered(ctx, func(provider *capiworld.Manager) {
		by := time.Duration(0)
		eventually(ctx, "time to bring about "+t.state, func(ctx context.Context) error {
			err := standsAt(ctx, t.Key, t.state)
			if err != nil {
				by += time.Minute
				err = errors.Join(err, provider.SetClock(by))
			}
			return err
		})
	})
}

// steered has a provider whose clock can be set take the place of the one that works, for this cluster alone: others would be late.
func (t *trial) steered(ctx context.Context, meanwhile func(*capiworld.Manager)) {
	GinkgoHelper()
	provider := world.Manager(capiworld.Provider)
	Expect(provider.Stop()).To(Succeed())
	Expect(provider.StartLater(0, "--leader-elect=false", "--namespace="+t.Key.Namespace)).To(Succeed())
	defer func() { // also where something fails meanwhile: other clusters are not seen by this one
		Expect(provider.Stop()).To(Succeed())
		Expect(provider.Start("--leader-elect=false")).To(Succeed())
	}()
	Expect(provider.Ready(ctx)).To(Succeed())
	meanwhile(provider)
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
