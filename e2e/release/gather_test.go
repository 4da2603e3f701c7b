package release_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// widgets is a definition as providers bring them.
const widgets = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.cluster.x-k8s.io}
spec:
  group: test.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

var _ = Describe("The payload's ClusterOperator", func() {
	It("brings all instances of what providers define to must-gather, wherever they are", func(ctx SpecContext) {
		const core = "cluster-capi-controllers"
		k := begin(ctx, nil)
		all := images(ctx)
		defining := content(core)
		defining[providers.ManifestsDir+"/default/manifests.yaml"] = append(defining[providers.ManifestsDir+"/default/manifests.yaml"], widgets...)
		reference, err := env.PushFiles(ctx, "defining", defining)
		Expect(err).NotTo(HaveOccurred())
		all["registry.ci.openshift.org/openshift:"+core] = reference
		release{"4.22.0", all}.install(ctx, files(), false)
		k.ready(ctx, 1)

		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}})).To(Succeed())
		widget := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "test.cluster.x-k8s.io/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "tenant", "name": "mine"},
		}}
		Expect(env.Client.Create(ctx, widget)).To(Succeed())
		eventually(ctx, "must-gather to take it", func(ctx context.Context) error { return takes(ctx, "Widget", client.ObjectKeyFromObject(widget)) })
	}, SpecTimeout(patience))
})

// takes says whether must-gather takes an object: it inspects what the ClusterOperator names, and all objects of a resource that it
// names without a name.
func takes(ctx context.Context, kind string, key client.ObjectKey) error {
	operator := &configv1.ClusterOperator{}
	if err := env.Client.Get(ctx, client.ObjectKey{Name: harness.ClusterOperatorName}, operator); err != nil {
		return err
	}
	for _, ref := range operator.Status.RelatedObjects {
		if ref.Name != "" || ref.Namespace != "" {
			continue
		}
		of, err := env.Client.RESTMapper().KindFor(schema.GroupVersionResource{Group: ref.Group, Resource: ref.Resource})
		if err != nil {
			return fmt.Errorf("must-gather does not know %s.%s: %w", ref.Resource, ref.Group, err)
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(of)
		if err := env.Client.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].GetKind() == kind && client.ObjectKeyFromObject(&list.Items[i]) == key {
				return nil
			}
		}
	}
	return errors.New("nothing that is named without a name has it")
}
