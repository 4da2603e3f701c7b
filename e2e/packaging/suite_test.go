// Package packaging_test is the end-to-end suite of manifests-gen: what its
// binary makes of a real provider does in a real API server what it is made for.
package packaging_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// bin is what make build and make controlplane fill.
const bin = "../../bin"

// client and mapper are an administrator's, of the cluster of the whole suite.
var (
	client *dynamic.DynamicClient
	mapper meta.RESTMapper
)

func TestPackaging(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The packaging tool")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	for _, needed := range []string{"manifests-gen", "controlplane/controlplane", "controlplane/kwok"} {
		_, err := os.Stat(filepath.Join(bin, needed))
		Expect(err).NotTo(HaveOccurred(), "the suite runs what `make build controlplane` builds")
	}
	c, err := cluster.Start(ctx, cluster.Options{Binaries: filepath.Join(bin, "controlplane"), CRDs: crds.All()})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(c.Stop)
	client, err = dynamic.NewForConfig(c.Config())
	Expect(err).NotTo(HaveOccurred())
	http, err := rest.HTTPClientFor(c.Config())
	Expect(err).NotTo(HaveOccurred())
	mapper, err = apiutil.NewDynamicRESTMapper(c.Config(), http)
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{namespace, elsewhere} {
		create(ctx, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
		}})
	}
}, NodeTimeout(2*time.Minute))

// builtManifests are those of a real provider's profile. Packaging what is
// packaged changes nothing, so they serve as what the provider's author has.
func builtManifests(ctx context.Context, component string) []byte {
	GinkgoHelper()
	built, err := providers.Build(ctx, providers.Options{
		Release: providers.ReleaseOne, Dir: filepath.Join(bin, "providers"), ManifestsGen: filepath.Join(bin, "manifests-gen"),
	})
	Expect(err).NotTo(HaveOccurred())
	profile := built[slices.IndexFunc(built, func(p providers.Profile) bool { return p.Component == component })]
	manifests, err := os.ReadFile(filepath.Join(profile.Folder, "default", "manifests.yaml"))
	Expect(err).NotTo(HaveOccurred())
	return manifests
}

// documents reads the objects of a manifests.yaml.
func documents(path string) []*unstructured.Unstructured {
	GinkgoHelper()
	manifests, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	var objects []*unstructured.Unstructured
	for document := range bytes.SplitSeq(manifests, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal(document, &object.Object)).To(Succeed())
		objects = append(objects, object)
	}
	return objects
}
