package release_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("Kustomize", func() {
	It("brings two replicas, of which one works and the other one takes over when it has to", func(ctx SpecContext) {
		k := begin(ctx, nil)
		apply(ctx, kustomized("../../deploy"))
		list := map[string]string{}
		for _, image := range images(ctx) {
			list[fmt.Sprintf("image-%d", len(list))] = image
		}
		Expect(env.SetImages(ctx, list)).To(Succeed())
		pods := k.ready(ctx, 2)
		_, err := env.Until(ctx, "the images to be installed", harness.Settled(1))
		Expect(err).NotTo(HaveOccurred())

		first := holder(ctx)
		Expect(first).NotTo(BeEmpty())
		for _, p := range pods {
			Expect(env.Client.Delete(ctx, p.object)).To(Succeed())
			eventually(ctx, "pod "+p.object.Name+" to end", func(context.Context) error {
				if k.known(p.object.UID) {
					return errors.New("it runs")
				}
				return nil
			})
			k.ready(ctx, 2)
		}
		eventually(ctx, "another replica to lead", func(ctx context.Context) error {
			if now := holder(ctx); now == first || now == "" {
				return fmt.Errorf("%q leads", now)
			}
			return nil
		})
		_, err = env.Until(ctx, "the images to be still installed", harness.Settled(1))
		Expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(patience))

	It("brings pods that mount provider images, and install them without a registry", func(ctx SpecContext) {
		reference := "registry.example/capi/cluster-api@sha256:" + strings.Repeat("1", 64)
		k := begin(ctx, map[string]map[string][]byte{reference: content("core")})
		text := string(kustomized("../../deploy-image-volumes"))
		text = strings.ReplaceAll(text, "/provider-images", GinkgoT().TempDir())
		apply(ctx, []byte(imageVolume.ReplaceAllString(text, "${1}"+reference)))
		Expect(env.SetImages(ctx, map[string]string{"cluster-api": reference})).To(Succeed())
		k.ready(ctx, 2)
		_, err := env.Until(ctx, "the image to be installed", harness.Settled(1))
		Expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(patience))

	It("brings one replica and no budget for disruptions to a single node", func() {
		text := string(kustomized("../../deploy-single-node"))
		Expect(text).To(ContainSubstring("  replicas: 1\n"))
		Expect(text).NotTo(ContainSubstring("podAntiAffinity"))
		Expect(text).NotTo(ContainSubstring("kind: PodDisruptionBudget"))
		Expect(string(kustomized("../../deploy"))).To(And(ContainSubstring("kind: PodDisruptionBudget"), ContainSubstring("podAntiAffinity")))
	})
})

// imageVolume is what a volume of the operator's pods names.
var imageVolume = regexp.MustCompile(`(reference: )registry\.example\.com/capi/cluster-api@sha256:0{64}`)

func kustomized(folder string) []byte {
	GinkgoHelper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	Expect(err).NotTo(HaveOccurred())
	text, err := made.AsYaml()
	Expect(err).NotTo(HaveOccurred())
	return text
}

// holder is who has the Lease, empty if nobody has.
func holder(ctx context.Context) string {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-leader"}, lease)).To(Succeed())
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}
