package clusterapi_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

var update = flag.Bool("update", false, "write the golden lists of objects anew")

var _ = Describe("The real provider of", func() {
	DescribeTable("another platform is installed, upgraded and removed, and leaves nothing but what holds data",
		func(ctx SpecContext, platform configv1.PlatformType, component, instance string) {
			one, err := env.Push(ctx, providers.CloudsOne)
			Expect(err).NotTo(HaveOccurred())
			two, err := env.Push(ctx, providers.CloudsTwo)
			Expect(err).NotTo(HaveOccurred())
			begin(ctx, harness.World{Platform: platform, Images: one})
			operate(harness.OperatorOptions{})
			v := installed(ctx, 1)
			Expect(components(v)).To(Equal([]string{providers.Core, component}))
			until(ctx, "the conditions of a finished installation", finished)
			expectGolden(component+"-one", objectsThere(ctx))
			mine := object(instance)
			eventually(ctx, "an object of the provider's to be created", func(ctx context.Context) error {
				return env.Client.Create(ctx, mine.DeepCopy(), administrator)
			})
			before := definitions(ctx)

			Expect(env.SetImages(ctx, two)).To(Succeed())
			installed(ctx, 2)
			until(ctx, "the conditions of a finished upgrade", finished)
			expectGolden(component+"-two", objectsThere(ctx))
			Expect(definitions(ctx)).To(Equal(before))
			uids(ctx, mine)

			Expect(env.SetImages(ctx, map[string]string{providers.Core: two[providers.Core]})).To(Succeed())
			installed(ctx, 3)
			definition := definitionOf(ctx, mine)
			until(ctx, "the definition to be retained", says("Upgradeable", "True", "AsExpected", definition.GetName(), "1 instance"))
			expectGolden("core-two", slices.DeleteFunc(objectsThere(ctx), func(name string) bool { return strings.HasSuffix(name, "/"+definition.GetName()) }))
			uids(ctx, mine, definition)

			silent(ctx)
			Expect(env.Client.Delete(ctx, mine)).To(Succeed())
			eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, definition) })
			expectGolden("core-two", objectsThere(ctx))
		},
		Entry("GCP", configv1.GCPPlatformType, providers.GCP,
			"{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: GKEConfig, metadata: {name: mine, namespace: default}}"),
		Entry("Azure", configv1.AzurePlatformType, providers.Azure,
			"{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: mine, namespace: default}, spec: {location: westeurope}}"),
	)
})

// definitionOf is the CRD that an object is an instance of.
func definitionOf(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	mapping, err := env.Client.RESTMapper().RESTMapping(o.GroupVersionKind().GroupKind())
	Expect(err).NotTo(HaveOccurred())
	name := mapping.Resource.GroupResource().String()
	return fetched(ctx, object("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "+name+"}}"))
}

// objectsThere are all managed objects, as "resource.group namespace/name".
func objectsThere(ctx context.Context) []string {
	GinkgoHelper()
	state, err := env.State(ctx)
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(slices.Sorted(maps.Keys(state)), func(name string) bool {
		return strings.HasPrefix(name, "configmaps "+harness.OperatorNamespace+"/capstan-")
	})
}

// expectGolden compares a list with the file of this name in testdata.
func expectGolden(name string, lines []string) {
	GinkgoHelper()
	file, got := fmt.Sprintf("testdata/objects-%s.txt", name), strings.Join(lines, "\n")+"\n"
	if *update {
		Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		Expect(os.WriteFile(file, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(got).To(Equal(string(want)), "run this spec with -update when that is meant")
}
