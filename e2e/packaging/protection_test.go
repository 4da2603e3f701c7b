package packaging_test

import (
	"context"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/e2e/providers"
)

const (
	namespace = "openshift-cluster-api"
	elsewhere = "elsewhere"
	own       = "mycluster-x7k2p" // the cluster's infrastructureName
	patience  = 30 * time.Second
)

var (
	definitions     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	policies        = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	bindings        = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
	infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	awsClusters     = schema.GroupVersionResource{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Resource: "awsclusters"}
)

var _ = Describe("The protection of the cluster's own infrastructure", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		setInfrastructureName(ctx, own)
		for _, object := range packaged(ctx) {
			switch {
			case object.GetName() == "awsclusters.infrastructure.cluster.x-k8s.io":
				create(ctx, definitions, "", object)
			case object.GetKind() == "ValidatingAdmissionPolicy":
				create(ctx, policies, "", object)
			case object.GetKind() == "ValidatingAdmissionPolicyBinding":
				create(ctx, bindings, "", object)
			}
		}
		createCluster(ctx, namespace, own)
		// The API server compiles a policy some time after it was created.
		Eventually(ctx, func(ctx context.Context) error {
			return in(namespace).Delete(ctx, own, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		}).WithTimeout(patience).Should(MatchError(apierrors.IsForbidden, "IsForbidden"))
	}, NodeTimeout(3*time.Minute))

	It("refuses to delete it and says why", func(ctx SpecContext) {
		err := in(namespace).Delete(ctx, own, metav1.DeleteOptions{})
		Expect(err).To(MatchError(apierrors.IsForbidden, "IsForbidden"))
		Expect(err).To(MatchError(ContainSubstring("this is the infrastructure of the cluster itself")))
		Expect(err).To(MatchError(ContainSubstring("openshift-cluster-api-protect-awscluster")))
	}, NodeTimeout(patience))

	It("lets it be changed", func(ctx SpecContext) {
		object, err := in(namespace).Get(ctx, own, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		object.SetLabels(map[string]string{"changed": "yes"})
		_, err = in(namespace).Update(ctx, object, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}, NodeTimeout(patience))

	It("lets others be deleted, and one of the same name in another namespace", func(ctx SpecContext) {
		createCluster(ctx, namespace, "other")
		Expect(in(namespace).Delete(ctx, "other", metav1.DeleteOptions{})).To(Succeed())
		createCluster(ctx, elsewhere, own)
		Expect(in(elsewhere).Delete(ctx, own, metav1.DeleteOptions{})).To(Succeed())
	}, NodeTimeout(patience))

	It("outlives the deletion of all", func(ctx SpecContext) {
		err := in(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		Expect(err).To(MatchError(apierrors.IsForbidden, "IsForbidden"))
		_, err = in(namespace).Get(ctx, own, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
	}, NodeTimeout(patience))

	It("refuses every deletion while it cannot know the name", func(ctx SpecContext) {
		createCluster(ctx, namespace, "another")
		Expect(client.Resource(infrastructures).Delete(ctx, "cluster", metav1.DeleteOptions{})).To(Succeed())
		dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
		Eventually(ctx, func(ctx context.Context) error {
			return in(namespace).Delete(ctx, "another", dryRun)
		}).WithTimeout(patience).Should(MatchError(ContainSubstring("no params found")))
		setInfrastructureName(ctx, own)
		Eventually(ctx, func(ctx context.Context) error {
			return in(namespace).Delete(ctx, "another", dryRun)
		}).WithTimeout(patience).Should(Succeed())
	}, NodeTimeout(3*patience))
})

// packaged is what manifests-gen makes of the real AWS provider, with its
// cluster resource protected.
func packaged(ctx context.Context) []*unstructured.Unstructured {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	Expect(os.WriteFile(filepath.Join(folder, "manifests.yaml"), builtManifests(ctx, providers.AWS), 0o644)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte("resources: [manifests.yaml]\n"), 0o644)).To(Succeed())
	return run(ctx, folder, "--name", "aws", "--protect-cluster-resource", "awscluster")
}

func in(namespace string) dynamic.ResourceInterface {
	return client.Resource(awsClusters).Namespace(namespace)
}

func create(ctx context.Context, resource schema.GroupVersionResource, namespace string, object *unstructured.Unstructured) {
	GinkgoHelper()
	_, err := client.Resource(resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// createCluster waits for the API server to serve the kind.
func createCluster(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": awsClusters.GroupVersion().String(), "kind": "AWSCluster",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"region": "us-east-1"},
	}}
	Eventually(ctx, func(ctx context.Context) error {
		_, err := in(namespace).Create(ctx, object, metav1.CreateOptions{})
		return err
	}).WithTimeout(patience).Should(Succeed())
}

func setInfrastructureName(ctx context.Context, name string) {
	GinkgoHelper()
	object, err := client.Resource(infrastructures).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure",
		"metadata": map[string]any{"name": "cluster"}, "spec": map[string]any{},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(unstructured.SetNestedField(object.Object, name, "status", "infrastructureName")).To(Succeed())
	_, err = client.Resource(infrastructures).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
