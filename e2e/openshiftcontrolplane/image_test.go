package openshiftcontrolplane_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var imageLayout = flag.String("layout", bin+"/provider-image", "the OCI layout of the provider's image, as make provider-image writes it")

var _ = Describe("The image that make provider-image writes", Label(long), func() {
	It("is what Capstan pulls and installs, and the program in it makes a cluster and removes it", func(ctx SpecContext) {
		var index v1.IndexManifest
		text, err := os.ReadFile(filepath.Join(*imageLayout, "index.json"))
		Expect(err).NotTo(HaveOccurred(), "make provider-image writes it")
		Expect(json.Unmarshal(text, &index)).To(Succeed())
		Expect(index.Manifests).To(HaveLen(3), "an image, an SBOM and a provenance")
		digest := index.Manifests[0].Digest.String()

		suite := world
		DeferCleanup(func() {
			if world != suite {
				Expect(world.Stop()).To(Succeed())
			}
			world = suite
		})
		world, err = capiworld.Start(ctx, capiworld.Options{Bin: bin, Layout: *imageLayout})
		if err != nil {
			world = suite
		}
		Expect(err).NotTo(HaveOccurred())
		deployment := &appsv1.Deployment{}
		Expect(world.API.Get(ctx, client.ObjectKey{Namespace: harness.CAPINamespace, Name: capiworld.Provider}, deployment)).To(Succeed())
		container := deployment.Spec.Template.Spec.Containers[0]
		Expect(container.Image).To(HaveSuffix("@" + digest))
		Expect(container.Env).To(ContainElement(And(HaveField("Name", "IMAGE"), HaveField("Value", container.Image))))

		key := newKey(ctx)
		install(ctx, key)
		remove(ctx, key)
	}, SpecTimeout(10*time.Minute))
})
