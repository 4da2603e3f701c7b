package packaging_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/providers"
)

// kustomization is laid out as OpenShift's core provider has it, transformers included.
var kustomization = map[string]string{
	"kustomization.yaml": `
resources: [manifests.yaml, exclude-resources-config.yaml, rename-resources-config.yaml]
transformers: [exclude-resources.yaml, rename-resources.yaml]
`,
	"exclude-resources.yaml": containerised("exclude-resources"),
	"rename-resources.yaml":  containerised("rename-resources"),
	"exclude-resources-config.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: exclude-resources-config, annotations: {config.kubernetes.io/local-config: "true"}}
data:
  excludeCRDs: |
    clusterclasses.cluster.x-k8s.io
    machinepools.cluster.x-k8s.io
    extensionconfigs.runtime.cluster.x-k8s.io
`,
	"rename-resources-config.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: rename-resources-config, annotations: {config.kubernetes.io/local-config: "true"}}
data:
  renameResources: |
    rbac.authorization.k8s.io/ClusterRole/capi-manager-role=openshift-capi-manager-role
    /Service/capi-webhook-service=openshift-capi-webhook-service
`,
}

func containerised(name string) string {
	return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: ` + name + `
  annotations:
    config.kubernetes.io/function: "container: {image: example.com/functions/interpreter}"
data: {source: program}
`
}

var _ = Describe("The real core provider, packaged as OpenShift's Makefile does it", Ordered, func() {
	var objects []*unstructured.Unstructured

	BeforeAll(func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		for name, content := range kustomization {
			Expect(os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644)).To(Succeed())
		}
		Expect(os.WriteFile(filepath.Join(folder, "manifests.yaml"), builtManifests(ctx, providers.Core), 0o644)).To(Succeed())
		objects = run(ctx, folder, "-name", "cluster-api", "-install-order=10", "-attribute", "type=core",
			"-self-image-ref", "registry.ci.openshift.org/openshift:cluster-capi-controllers",
			"-protect-cluster-resource", "cluster", "-manifests-summary")
	}, NodeTimeout(3*time.Minute))

	It("names nothing excluded in webhooks and roles", func() {
		Expect(objects).To(HaveLen(22)) // 23, less 3 CRDs, and the policy with its binding
		for _, object := range objects {
			if object.GetKind() == "CustomResourceDefinition" {
				Expect(object.GetName()).NotTo(HavePrefix("machinepools."))
				continue
			}
			text, err := yaml.Marshal(object.Object)
			Expect(err).NotTo(HaveOccurred())
			for _, word := range []string{"clusterclasses", "machinepools", "extensionconfigs"} {
				Expect(string(text)).NotTo(ContainSubstring(word), object.GetName())
			}
		}
	})

	It("is taken by the API server, every object of it", func(ctx SpecContext) {
		for _, object := range objects {
			Expect(dryRun(ctx, object)).To(Succeed(), object.GetKind()+" "+object.GetName())
		}
	}, NodeTimeout(patience))
})

// dryRun has the API server validate an object without keeping it.
func dryRun(ctx context.Context, object *unstructured.Unstructured) error {
	mapping, err := mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	_, err = client.Resource(mapping.Resource).Namespace(object.GetNamespace()).
		Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// run packages a folder into itself and returns the objects.
func run(ctx context.Context, folder string, args ...string) []*unstructured.Unstructured {
	GinkgoHelper()
	args = append(args, "-kustomize-dir", folder, "-manifests-path", folder)
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "manifests-gen"), args...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return documents(filepath.Join(folder, "default", "manifests.yaml"))
}
