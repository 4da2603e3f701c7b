package openshiftcontrolplane_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// definition is that of a kind of infrastructure without a schema, as a provider brings it.
func definition(kind string) *unstructured.Unstructured {
	plural := strings.ToLower(kind) + "s"
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": capiworld.Infrastructure.Group, "scope": "Namespaced",
		"names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": strings.ToLower(kind)},
		"versions": []any{map[string]any{
			"name": capiworld.Infrastructure.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		}},
	}}}
	made.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	made.SetName(plural + "." + capiworld.Infrastructure.Group)
	made.SetLabels(map[string]string{"cluster.x-k8s.io/v1beta2": capiworld.Infrastructure.Version})
	return made
}

var _ = Describe("A cluster of machines of a provider that is not installed yet", func() {
	It("says that its template is invalid, makes no machine, and goes on once the provider is there", Label(long), func(ctx SpecContext) {
		asked, since := prepare(ctx, ""), mark(ctx)
		spec(asked.ControlPlane, "LateMachineTemplate", "machineTemplate", "spec", "infrastructureRef", "kind")
		Expect(world.Create(ctx, asked.Secret, asked.DevCluster, asked.ControlPlane, asked.Cluster)).To(Succeed())
		says(ctx, asked.Key, "InputsValid", metav1.ConditionFalse, "InfraTemplateInvalid: LateMachineTemplate one")
		stands(ctx, asked.Key, "ResolvingInputs")
		Expect(made(ctx, since, asked.Key)).To(BeEmpty())

		for _, kind := range []string{"LateMachine", "LateMachineTemplate"} {
			one := definition(kind)
			Expect(world.Create(ctx, one)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(world.API.Delete(ctx, one)).To(Succeed()) })
		}
		template := capiworld.MachineTemplate(asked.Key)
		template.SetGroupVersionKind(capiworld.Infrastructure.WithKind("LateMachineTemplate"))
		eventually(ctx, "a template of the provider", func(ctx context.Context) error {
			err := world.API.Create(ctx, template, harness.Administrator)
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
		says(ctx, asked.Key, "InputsValid", metav1.ConditionTrue, "")
		has(ctx, asked.Key, "Machine one-0")
		late := &unstructured.Unstructured{}
		late.SetGroupVersionKind(capiworld.Infrastructure.WithKind("LateMachine"))
		Expect(world.API.Get(ctx, client.ObjectKey{Namespace: asked.Key.Namespace, Name: "one-0"}, late)).To(Succeed())

		remove(ctx, asked.Key)
	}, SpecTimeout(3*patience))
})
