package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// theirs is an object of somebody else, whose content is a spec, or data.
func theirs(of schema.GroupVersionKind, name, field string, content map[string]any) *unstructured.Unstructured {
	one := &unstructured.Unstructured{Object: map[string]any{field: content}}
	one.SetGroupVersionKind(of)
	one.SetName(name)
	return one
}

// inMemory is what is said of a machine in memory.
func inMemory() map[string]any {
	return map[string]any{"backend": map[string]any{"inMemory": map[string]any{}}}
}

// somebodys are a Machine, a config, an infrastructure machine and a Secret of somebody else, each of a name that a cluster takes.
func somebodys() []*unstructured.Unstructured {
	return []*unstructured.Unstructured{
		theirs(corev1.SchemeGroupVersion.WithKind("Secret"), "one-ignition-worker", "data", map[string]any{"value": "dGhlaXJz"}),
		theirs(capiworld.OpenShift.WithKind("OpenShiftConfig"), "one-0", "spec", map[string]any{"role": "worker"}),
		theirs(capiworld.Infrastructure.WithKind("DevMachine"), "one-0", "spec", inMemory()),
		theirs(clusterv1.GroupVersion.WithKind("Machine"), "one-bootstrap", "spec", map[string]any{
			"clusterName": "another", "bootstrap": map[string]any{"dataSecretName": "another"},
			"infrastructureRef": map[string]any{"apiGroup": capiworld.Infrastructure.Group, "kind": "DevMachine", "name": "another"},
		}),
	}
}

// untouched is that an object of somebody else is as they have made it.
func untouched(ctx context.Context, one *unstructured.Unstructured) {
	GinkgoHelper()
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(one.GroupVersionKind())
	Expect(world.API.Get(ctx, client.ObjectKeyFromObject(one), now)).To(Succeed())
	Expect(now.GetUID()).To(Equal(one.GetUID()))
	Expect(now.GetDeletionTimestamp()).To(BeNil())
	Expect(now.GetOwnerReferences()).To(BeEmpty())
	content := func(of *unstructured.Unstructured) []any { return []any{of.Object["spec"], of.Object["data"]} } // either is nil
	Expect(content(now)).To(Equal(content(one)))
}

// triesAgain lets time go by until what errors have stopped is tried again by itself.
func triesAgain(ctx context.Context, asked *capiworld.Asked) {
	GinkgoHelper()
	(&trial{Asked: asked}).steered(ctx, func(provider *capiworld.Manager) {
		by := time.Duration(0)
		eventually(ctx, "another try", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, asked.Key)
			if err != nil || standing.State != "Failed" {
				return err
			}
			by += time.Minute
			return errors.Join(errors.New("it has failed, and waits"), provider.SetClock(by))
		})
		AddReportEntry("after how long it was tried again", by)
	})
}

var _ = Describe("An object of somebody else with a name that a cluster takes", Label(long), func() {
	It("is told and left as it is, and the cluster goes on once it is gone, by itself after a while or at once where somebody asks for that", func(ctx SpecContext) {
		all := somebodys()
		var asked []*capiworld.Asked
		since := mark(ctx)
		for _, one := range all {
			a := prepare(ctx, "")
			one.SetNamespace(a.Key.Namespace)
			Expect(world.Create(ctx, append([]client.Object{one}, a.Objects()...)...)).To(Succeed())
			asked = append(asked, a)
		}
		for i, one := range all {
			key := asked[i].Key
			stands(ctx, key, "Failed")
			standing, err := world.Standing(ctx, key)
			Expect(err).NotTo(HaveOccurred())
			Expect(standing.Failure).To(ContainSubstring(fmt.Sprintf("%s %s/%s is there already, and does not belong to OpenShiftControlPlane one", one.GetKind(), key.Namespace, one.GetName())))
			untouched(ctx, one)
		}
		for i, one := range all {
			Expect(world.API.Delete(ctx, one)).To(Succeed())
			if i == 0 {
				triesAgain(ctx, asked[i])
				continue
			}
			Expect(refine(ctx, asked[i].ControlPlane, `{"metadata":{"annotations":{"capstan.openshift.io/retry":"1"}}}`)).To(Succeed())
		}
		for i, a := range asked {
			stands(ctx, a.Key, "Installed")
			// Somebody else has made one more.
			for what, times := range made(ctx, since, a.Key) {
				own := slices.Index([]string{"", "openshiftconfigs one-0", "devmachines one-0", "machines one-bootstrap"}, what) == i
				Expect(times).To(Equal(map[bool]int{false: 1, true: 2}[own]), "creations of "+what)
			}
			remove(ctx, a.Key)
		}
	}, SpecTimeout(10*time.Minute))

	It("keeps a machine from its data Secret, which is told, and comes as soon as the name is free", func(ctx SpecContext) {
		asked := prepare(ctx, "")
		one := theirs(corev1.SchemeGroupVersion.WithKind("Secret"), "one-0", "data", map[string]any{"value": "dGhlaXJz"})
		one.SetNamespace(asked.Key.Namespace)
		Expect(world.Create(ctx, append([]client.Object{one}, asked.Objects()...)...)).To(Succeed())
		eventually(ctx, "the config to say whose the Secret is", func(ctx context.Context) error {
			config := &unstructured.Unstructured{}
			config.SetGroupVersionKind(capiworld.OpenShift.WithKind("OpenShiftConfig"))
			if err := world.API.Get(ctx, client.ObjectKey{Namespace: asked.Key.Namespace, Name: "one-0"}, config); err != nil {
				return err
			}
			if told, _, _ := unstructured.NestedString(config.Object, "status", "lastFailure", "message"); !strings.Contains(told, "is there already, and does not belong to OpenShiftConfig one-0") {
				return fmt.Errorf("it says %q", told)
			}
			return nil
		})
		untouched(ctx, one)
		Expect(world.API.Delete(ctx, one)).To(Succeed())
		stands(ctx, asked.Key, "Installed")
		remove(ctx, asked.Key)
	}, SpecTimeout(5*time.Minute))
})
