package clusterapi_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A revision that somebody else lists", func() {
	evil := func() *provider { return newProvider("evil") }

	It("is not executed, and a revision of the operator's takes its place, whether the operator runs or not", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		before, image := uids(ctx, alpha.objects...), push(ctx, evil())["evil"]
		since := mark(ctx)

		By("while it runs")
		listByHand(ctx, image, 2)
		installed(ctx, 3)

		By("while it does not")
		Expect(operator.Stop()).To(Succeed())
		listByHand(ctx, image, 4)
		operate(harness.OperatorOptions{})
		installed(ctx, 5)
		until(ctx, "the conditions of a finished installation", finished)
		Expect(uids(ctx, alpha.objects...)).To(Equal(before))
		expectGone(ctx, evil().objects...)
		expectNothingOf(ctx, since, "evil")
	})

	It("leaves a full list, so that there is room for a revision of the operator's", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		image, since := push(ctx, evil())["evil"], mark(ctx)
		var numbers []int64
		for number := int64(2); number <= 16; number++ {
			numbers = append(numbers, number)
		}
		listByHand(ctx, image, numbers...)
		v := installed(ctx, 17)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(path(v)).NotTo(ContainElement("RevisionLimitReached"))
		expectNothingOf(ctx, since, "evil")
	})

	It("has no say over what manifests hold by its substitutions, though it names the images of the release", func(ctx SpecContext) {
		alpha := newProvider("alpha").with(configMap("tls", "${TLS_MIN_VERSION}"))
		images := push(ctx, alpha)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(env.SetImages(ctx, map[string]string{"alpha": "registry.example/alpha:latest"})).To(Succeed())
		until(ctx, "the inputs to be refused", inState(harness.Degraded))
		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
			made := *s.Revisions[0].DeepCopy()
			made.Name, made.Revision = "4.22.0-"+operatorv1alpha1.RevisionName(made.ContentID[:8])+"-2", 2
			for i := range made.ManifestSubstitutions {
				if made.ManifestSubstitutions[i].Key == "TLS_MIN_VERSION" {
					made.ManifestSubstitutions[i].Value = ptr.To("VersionTLS12\nowner: evil")
				}
			}
			s.Revisions = append(s.Revisions, made)
			s.DesiredRevision, s.CurrentRevision = made.Name, made.Name
		})
		until(ctx, "it to be told whose it is", says("Degraded", "True", "NonRetryableError", "is by tag"), func(v harness.View) error {
			if text := fmt.Sprint(v.ClusterOperator.Status.Conditions); !strings.Contains(text, "listed by somebody else") {
				return fmt.Errorf("the conditions are %s", text)
			}
			return nil
		})
		Expect(fetched(ctx, configMap("tls", "")).Object["data"]).To(Equal(map[string]any{"setting": "VersionTLS12"}))

		By("asking for the content that it says it has, which is executed as it is planned")
		Expect(env.SetImages(ctx, images)).To(Succeed())
		installed(ctx, 2)
		until(ctx, "the conditions of a finished installation", finished)
		Expect(fetched(ctx, configMap("tls", "")).Object["data"]).To(Equal(map[string]any{"setting": "VersionTLS12"}))
	})
})

var _ = Describe("An operator that is killed when it has announced a revision and not listed it", func() {
	It("lists it with the same number when it comes back", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		release(ctx, newProvider("alpha").with(configMap("more", "one")))
		operator = operate(harness.OperatorOptions{})
		eventually(ctx, "the announcement", func(ctx context.Context) error {
			if names := inventories(ctx); len(names) < 2 {
				return fmt.Errorf("there are %v", names)
			}
			return nil
		})
		operator.Kill()
		operate(harness.OperatorOptions{})
		v := installed(ctx, 2)
		Expect(v.Revisions()[0].Revision).To(Equal(int64(2)))
		Expect(inventories(ctx)).To(Equal([]string{"capstan-inventory-2"}))
	})
})

// listByHand lists revisions of one image as whoever may write the status does; the last is desired and current.
func listByHand(ctx context.Context, image string, numbers ...int64) {
	GinkgoHelper()
	status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
		for _, number := range numbers {
			entry := operatorv1alpha1.ClusterAPIInstallerRevision{
				Name: operatorv1alpha1.RevisionName(fmt.Sprintf("4.22.0-0badc0de-%d", number)), Revision: number, ContentID: strings.Repeat("0badc0de", 8),
				Components: []operatorv1alpha1.ClusterAPIInstallerComponent{{
					Name: "evil",
					ClusterAPIInstallerComponentSource: operatorv1alpha1.ClusterAPIInstallerComponentSource{
						Type:  operatorv1alpha1.InstallerComponentTypeImage,
						Image: operatorv1alpha1.ClusterAPIInstallerComponentImage{Ref: operatorv1alpha1.ImageDigestFormat(image), Profile: "default"},
					},
				}},
			}
			s.Revisions = append(s.Revisions, entry)
			s.DesiredRevision, s.CurrentRevision = entry.Name, entry.Name
		}
	})
}

// expectNothingOf sees that no write, tried or done, was of an object of this name.
func expectNothingOf(ctx context.Context, since cluster.Mark, name string) {
	GinkgoHelper()
	wrote := requests(ctx, since).Where(func(r cluster.Request) bool {
		return r.Name == name && (r.Verb == "patch" || r.Verb == "create" || r.Verb == "update")
	})
	Expect(wrote).To(BeEmpty(), wrote.String())
}
