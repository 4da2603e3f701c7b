package clusterapi_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A foreign object of the same name", func() {
	It("is reported with its owner, harms nothing, and heals when it goes", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		first := installed(ctx, 1)
		foreign := configMap("shared", "foreign")
		Expect(env.Client.Create(ctx, foreign.DeepCopy(), administrator)).To(Succeed())
		before := fetched(ctx, foreign)

		release(ctx, newProvider("alpha").with(configMap("shared", "ours"), configMap("other", "ours")).set("ConfigMap", "alpha", "two", "data", "setting"))
		const name = "ConfigMap openshift-cluster-api/shared"
		v := until(ctx, "the collision to be reported", inState(harness.Applying),
			says("InstallerControllerProgressing", "True", "EphemeralError", name, "field manager administrator"),
			says("Progressing", "True", "EphemeralError", name), says("Degraded", "False", "AsExpected"),
			says("Upgradeable", "False", "EphemeralError", name, "field manager administrator"),
			says("Available", "True", "AsExpected"))

		Expect(v.Current()).To(Equal(first.Current()))
		Expect(fetched(ctx, foreign)).To(Equal(before))
		eventually(ctx, "the other objects of the wave to be applied", func(ctx context.Context) error {
			return has(ctx, configMap("other", ""), "ours", "data", "setting")
		})
		Expect(env.Client.Delete(ctx, newProvider("alpha").find("ValidatingWebhookConfiguration", "alpha"))).To(Succeed())
		within(ctx, quickly, "the old revision to be kept applied", func(ctx context.Context) error {
			_, err := fetch(ctx, newProvider("alpha").find("ValidatingWebhookConfiguration", "alpha"))
			return err
		})

		Expect(env.Client.Delete(ctx, foreign)).To(Succeed())
		installed(ctx, 2)
		Expect(setting(ctx, foreign)).To(Equal("ours"))
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("is left alone also by a first installation, and is not deleted by pruning", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(configMap("shared", "ours")))})
		foreign := configMap("shared", "foreign")
		Expect(env.Client.Create(ctx, foreign.DeepCopy(), administrator)).To(Succeed())
		before := fetched(ctx, foreign)
		operate(harness.OperatorOptions{})
		v := until(ctx, "the collision to be reported", says("Progressing", "True", "EphemeralError", "ConfigMap openshift-cluster-api/shared"))
		Expect(v.Condition("Available")).To(BeNil())

		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		Expect(fetched(ctx, foreign)).To(Equal(before))
	})

	It("stops a first installation also when it is a definition, and nothing of its kind is touched", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		definition := alpha.objects[0].DeepCopy()
		definition.SetLabels(map[string]string{"team": "foreign"})
		Expect(env.Client.Create(ctx, definition.DeepCopy(), administrator)).To(Succeed())
		operate(harness.OperatorOptions{})
		until(ctx, "the collision to be reported", inState(harness.Applying),
			says("Progressing", "True", "EphemeralError", "CustomResourceDefinition alphas.test.cluster.x-k8s.io", "field manager administrator"))
		expectGone(ctx, alpha.objects[1:]...)
		before := fetched(ctx, definition)
		Expect(before.GetLabels()).To(Equal(map[string]string{"team": "foreign"}))
		Expect(before.GetAnnotations()).To(BeEmpty())

		Expect(env.Client.Delete(ctx, definition)).To(Succeed())
		installed(ctx, 1)
		Expect(fetched(ctx, definition).GetUID()).NotTo(Equal(before.GetUID()))
	})

	It("is taken over only when the manifest says that it may", func(ctx SpecContext) {
		foreign := configMap("shared", "foreign")
		ours := configMap("shared", "ours")
		ours.SetAnnotations(map[string]string{"capi-operator.openshift.io/adopt-existing": "always"})
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(ours))})
		Expect(env.Client.Create(ctx, foreign.DeepCopy(), administrator)).To(Succeed())
		before := fetched(ctx, foreign)
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(setting(ctx, foreign)).To(Equal("ours"))
		Expect(fetched(ctx, foreign).GetUID()).To(Equal(before.GetUID()))
	})
})
