package shim_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	fenceLabel   = "capstan.openshift.io/private-capi-fence"
	standardCore = "cluster.x-k8s.io"
)

var _ = Describe("the fence", Ordered, func() {
	var component, move client.Client

	BeforeAll(func(ctx SpecContext) {
		install(ctx, place) // what is stored as it is written needs no shim
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, standardMachines()))).To(Succeed())
		eventually(ctx, "waiting for the standard Machines", func(ctx context.Context) error { return isEstablished(ctx, "machines."+standardCore) })
		component, move = as("system:serviceaccount:hosted:cluster-api"), as("system:serviceaccount:"+harness.OperatorNamespace+":"+harness.ServiceAccount)
	})

	It("shuts the side that the namespace's label names, to all but the move", func(ctx SpecContext) {
		where := namespace(ctx)
		for _, row := range []struct {
			fence             string
			standard, private bool // are shut
		}{{"standard", true, false}, {"private", false, true}, {"both", true, true}, {"anything else", true, true}, {"", false, false}} {
			setFence(ctx, where, row.fence)
			for group, shut := range map[string]bool{standardCore: row.standard, privateCore: row.private} {
				what := fmt.Sprintf("fence %q, a write of %s", row.fence, group)
				// An API server learns of a label in its own time.
				eventually(ctx, what, func(ctx context.Context) error { return isShut(ctx, component, machineOf(group, where.Name), shut) })
				Expect(move.Create(ctx, machineOf(group, where.Name), client.DryRunAll)).To(Succeed(), what+" by the move")
			}
		}
	})

	It("leaves other kinds, other namespaces, the garbage collector and the namespace controller alone", func(ctx SpecContext) {
		where, elsewhere := namespace(ctx), namespace(ctx)
		owner := configMap(where.Name, "owner")
		Expect(admin.Create(ctx, owner)).To(Succeed())
		owned, left := machineOf(privateCore, where.Name), machineOf(privateCore, where.Name)
		owned.SetName("owned")
		owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}})
		Expect(component.Create(ctx, owned)).To(Succeed())
		Expect(component.Create(ctx, left)).To(Succeed())
		setFence(ctx, where, "both")
		eventually(ctx, "a write that is shut out", func(ctx context.Context) error {
			return isShut(ctx, component, machineOf(privateCore, where.Name), true)
		})

		Expect(component.Delete(ctx, left)).To(MatchError(ContainSubstring("capstan-private-capi-fence")))
		Expect(component.Create(ctx, configMap(where.Name, "other"))).To(Succeed())
		Expect(component.Create(ctx, machineOf(privateCore, elsewhere.Name))).To(Succeed())
		Expect(component.Delete(ctx, owner)).To(Succeed())
		eventually(ctx, "waiting for the garbage collector", func(ctx context.Context) error { return gone(ctx, owned) })
		Expect(component.Delete(ctx, where)).To(Succeed())
		eventually(ctx, "waiting for the namespace to go", func(ctx context.Context) error { return gone(ctx, where) })
	})
})

// as is a client of a user with an administrator's rights: what it is refused, the fence refuses.
func as(user string) client.Client {
	GinkgoHelper()
	config, err := env.Cluster.ConfigFor(user, "system:masters")
	Expect(err).NotTo(HaveOccurred())
	made, err := harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
	return made
}

func setFence(ctx context.Context, namespace *corev1.Namespace, fence string) {
	GinkgoHelper()
	before := namespace.DeepCopy()
	if namespace.Labels[fenceLabel] = fence; fence == "" {
		delete(namespace.Labels, fenceLabel)
	}
	if fence == "anything else" {
		namespace.Labels[fenceLabel] = "anything-else"
	}
	Expect(admin.Patch(ctx, namespace, client.MergeFrom(before))).To(Succeed())
}

// isShut is nil if a write is refused by the fence, or is not, as expected.
func isShut(ctx context.Context, c client.Client, object client.Object, shut bool) error {
	err := c.Create(ctx, object, client.DryRunAll)
	switch {
	case err == nil && shut:
		return errors.New("it is not refused")
	case apierrors.IsForbidden(err) && shut:
		Expect(err).To(MatchError(And(ContainSubstring("ValidatingAdmissionPolicy 'capstan-private-capi-fence'"), ContainSubstring("capstan private-capi status says how the move stands"))))
		return nil
	}
	return err
}

// machineOf is a Machine that any schema takes.
func machineOf(group, namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1beta2", "kind": "Machine", "metadata": map[string]any{"namespace": namespace, "name": "m"},
		"spec": map[string]any{
			"clusterName": "c", "bootstrap": map[string]any{"dataSecretName": "s"},
			"infrastructureRef": map[string]any{"apiGroup": "infrastructure." + group, "kind": "AWSMachine", "name": "m"},
		},
	}}
}

// standardMachines stands for the platform's own definition, which knows no field.
func standardMachines() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "machines." + standardCore, Annotations: map[string]string{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/cluster-api"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: standardCore, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "machines", Singular: "machine", Kind: "Machine", ListKind: "MachineList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta2", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}},
			}},
		},
	}
}
