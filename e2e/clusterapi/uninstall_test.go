package clusterapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const uninstallAnnotation = "capi-operator.openshift.io/consent-to-uninstall"

var _ = Describe("An emptied list of provider images", func() {
	It("uninstalls nothing until the administrator consents, once for each revision, and destroys no data then", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		definition := newProvider("alpha").find("CustomResourceDefinition", "alphas.test.capstan.io")
		precious := custom("alpha", "precious")
		Expect(env.Client.Create(ctx, precious, administrator)).To(Succeed())
		kept := uids(ctx, definition, precious)

		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		asked := []string{"alpha", "small", "uninstall", uninstallAnnotation + "=2"}
		g.survives(ctx, revisionController, nonRetryable, asked...)
		annotate(ctx, uninstallAnnotation, "1")
		annotate(ctx, consentAnnotation, "2")
		g.survives(ctx, revisionController, nonRetryable, append(asked, "not for revision 2")...)
		v := until(ctx, "nothing to be listed", listed(1))
		Expect(v.Revisions()[0].Components).To(HaveLen(2))

		annotate(ctx, uninstallAnnotation, "2")
		annotate(ctx, consentAnnotation, "none")
		v = until(ctx, "a revision without components", harness.Settled(2), g.isAvailable)
		Expect(v.Revisions()[0].Components).To(BeEmpty())
		left := &corev1.ConfigMapList{}
		Expect(env.Client.List(ctx, left, client.HasLabels{harness.ManagedByLabel})).To(Succeed())
		Expect(left.Items).To(BeEmpty())

		By("installing again, and emptying the list again")
		release(ctx, newProvider("alpha"), small("two"))
		until(ctx, "everything to be back", harness.Settled(3), fine, g.isAvailable)
		Expect(uids(ctx, definition, precious)).To(Equal(kept))
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		until(ctx, "consent to be asked for anew", listed(1), told(revisionController, nonRetryable, uninstallAnnotation+"=4", "not for revision 4"))
		uids(ctx, newProvider("alpha").find("Deployment", "alpha"))
	})

	It("does not stop a rollout, and needs no consent before anything was installed", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		free := hold(ctx, "one")
		operate(harness.OperatorOptions{})
		until(ctx, "the first installation to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		v := installed(ctx, 2)
		Expect(v.Revisions()[0].Components).To(BeEmpty())
		free()

		release(ctx, newProvider("alpha").running("three"))
		installed(ctx, 3)
		free = hold(ctx, "four")
		release(ctx, newProvider("alpha").running("four"))
		until(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		until(ctx, "the error to be told beside the rollout", says(installerController+"Progressing", "True", "Progressing", "waits for Deployment openshift-cluster-api/alpha"),
			says(revisionController+"Degraded", "True", nonRetryable, uninstallAnnotation+"=5"))
		free()
		until(ctx, "the rollout to be finished", func(v harness.View) error { return current(v, 4) })
	})
})

var _ = Describe("A component that loses all of its workloads and stays listed", func() {
	It("keeps them until the administrator consents", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		deployment := newProvider("alpha").find("Deployment", "alpha")
		release(ctx, emptyProvider("alpha").with(configMap("alpha", "two")))
		until(ctx, "consent to be asked for", listed(1), told(revisionController, nonRetryable,
			"component alpha", "Deployment openshift-cluster-api/alpha", uninstallAnnotation+"=2"))
		uids(ctx, deployment)
		annotate(ctx, uninstallAnnotation, "2")
		installed(ctx, 2)
		expectGone(ctx, deployment)
	})

	DescribeTable("is told apart from one that",
		func(ctx SpecContext, next func() []*provider) {
			begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), newProvider("beta"))})
			operate(harness.OperatorOptions{})
			installed(ctx, 1)
			release(ctx, next()...)
			installed(ctx, 2)
		},
		Entry("leaves the list", func() []*provider { return []*provider{newProvider("beta")} }),
		Entry("has another workload instead", func() []*provider {
			return []*provider{newProvider("beta"), without(newProvider("alpha"), "Deployment").with(renamed(newProvider("alpha").find("Deployment", "alpha"), "omega"))}
		}),
		Entry("has handed its workload to another component", func() []*provider {
			return []*provider{without(newProvider("alpha"), "Deployment"), newProvider("beta").with(newProvider("alpha").find("Deployment", "alpha"))}
		}),
	)
})

// without takes the objects of a kind away.
func without(p *provider, kind string) *provider {
	var rest []*unstructured.Unstructured
	for _, o := range p.objects {
		if o.GetKind() != kind {
			rest = append(rest, o)
		}
	}
	p.objects = rest
	return p
}

func renamed(o *unstructured.Unstructured, name string) *unstructured.Unstructured {
	o.SetName(name)
	return o
}
