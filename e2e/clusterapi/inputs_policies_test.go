package clusterapi_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/registry"
)

// signer makes a key for a spec.
func signer() *registry.Signer {
	GinkgoHelper()
	s, err := registry.NewSigner()
	Expect(err).NotTo(HaveOccurred())
	return s
}

// signedBy asks for a signature of all images that the specs push.
func signedBy(s *registry.Signer) configv1.ImageSigstoreVerificationPolicy {
	return configv1.ImageSigstoreVerificationPolicy{
		RootOfTrust: configv1.PolicyRootOfTrust{
			PolicyType: configv1.PublicKeyRootOfTrust, PublicKey: &configv1.ImagePolicyPublicKeyRootOfTrust{KeyData: s.Public},
		},
		SignedIdentity: &configv1.PolicyIdentity{MatchPolicy: configv1.IdentityMatchPolicyMatchRepository}, // cosign signs names without a tag
	}
}

func scope() []configv1.ImageScope {
	return []configv1.ImageScope{configv1.ImageScope(env.Registry.Host() + "/synthetic")}
}

// configure makes Image cluster say this of registries.
func configure(ctx context.Context, sources configv1.RegistrySources) {
	GinkgoHelper()
	image := &configv1.Image{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
	if err := env.Client.Create(ctx, image); err != nil {
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(image), image)).To(Succeed())
	}
	image.Spec.RegistrySources = sources
	Expect(env.Client.Update(ctx, image)).To(Succeed())
}

var _ = Describe("The images that a cluster lets in", func() {
	It("are those that its policy wants signed, once they are, also after a restart without a registry", func(ctx SpecContext) {
		g := installSmall(ctx)
		right, wrong := signer(), signer()
		policy := &configv1.ClusterImagePolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "signed"}, Spec: configv1.ClusterImagePolicySpec{Scopes: scope(), Policy: signedBy(right)},
		}
		Expect(env.Client.Create(ctx, policy)).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, "/synthetic/small@sha256:", "ClusterImagePolicy signed", "none is attached")

		next := push(ctx, small("two"))["small"]
		Expect(wrong.Sign(next)).To(Succeed())
		Expect(env.SetImages(ctx, map[string]string{"small": next})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, next, "ClusterImagePolicy signed", "does not let it in")

		Expect(right.Sign(next)).To(Succeed())
		annotate(ctx, retryAnnotation, "it is signed")
		g.isReplaced(ctx, "two")

		Expect(g.operator.Stop()).To(Succeed())
		Expect(env.Registry.Stop()).To(Succeed())
		DeferCleanup(env.Registry.Restart)
		g.restart()
		g.isKept(ctx)
		until(ctx, "nothing to be wrong without the registry", harness.Settled(2), fine)
		Expect(hasSetting(ctx, "changed", "two")).To(Succeed())
	})

	It("are all again when the policy is taken away, and a policy of the operator's namespace counts as well", func(ctx SpecContext) {
		g := installSmall(ctx)
		policy := &configv1.ImagePolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "signed"},
			Spec:       configv1.ImagePolicySpec{Scopes: scope(), Policy: signedBy(signer())},
		}
		Expect(env.Client.Create(ctx, policy)).To(Succeed())
		release(ctx, small("unsigned"))
		g.survives(ctx, revisionController, ephemeral, "ImagePolicy "+harness.OperatorNamespace+"/signed", "none is attached")
		Expect(env.Client.Delete(ctx, policy)).To(Succeed())
		g.isReplaced(ctx, "unsigned")
	})

	It("are not those of a blocked registry, nor those that are not allowed", func(ctx SpecContext) {
		g := installSmall(ctx)
		next := push(ctx, small("two"))["small"]
		asked := countRequests()
		configure(ctx, configv1.RegistrySources{BlockedRegistries: []string{env.Registry.Host()}})
		Expect(env.SetImages(ctx, map[string]string{"small": next})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, "blockedRegistries of Image cluster")
		configure(ctx, configv1.RegistrySources{AllowedRegistries: []string{"quay.io"}})
		g.survives(ctx, revisionController, ephemeral, "allowedRegistries of Image cluster", "quay.io")
		Expect(asked.Load()).To(BeZero(), "requests to a registry that is blocked, or not allowed")
		obey()
		configure(ctx, configv1.RegistrySources{AllowedRegistries: []string{env.Registry.Host() + "/synthetic"}})
		g.isReplaced(ctx, "two")
	})
})

var _ = Describe("The mirrors of an older cluster", func() {
	It("are those of its ImageContentSourcePolicies", func(ctx SpecContext) {
		g := installSmall(ctx)
		m := startMirror("nothing")
		next := push(ctx, small("two"))["small"]
		refuseBut(m)
		Expect(env.SetImages(ctx, map[string]string{"small": next})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, next)
		Expect(env.Client.Create(ctx, &operatorv1alpha1.ImageContentSourcePolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "mirrored"},
			Spec: operatorv1alpha1.ImageContentSourcePolicySpec{RepositoryDigestMirrors: []operatorv1alpha1.RepositoryDigestMirrors{{
				Source: env.Registry.Host() + "/synthetic", Mirrors: []string{m.host + "/synthetic"},
			}}},
		})).To(Succeed())
		g.isReplaced(ctx, "two")
	})
})
