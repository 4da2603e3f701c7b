package clusterapi_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A list of images that names its release", func() {
	It("is followed by the operator of that release; another one keeps what is installed, and says so", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		old := operate(harness.OperatorOptions{Release: "4.22.5"})
		installed(ctx, 1)
		release(ctx, newProvider("alpha").with(configMap("new", "one")))
		installed(ctx, 2)

		Expect(old.Stop()).To(Succeed())
		nextRelease(ctx, "4.22.6", newProvider("alpha").with(configMap("newer", "one")))
		old = operate(harness.OperatorOptions{Release: "4.22.5", SteeredClock: true})
		until(ctx, "the other release to be waited for",
			says("Progressing", "True", "WaitingOnExternal", "is for release 4.22.6", "this operator is of release 4.22.5"),
			says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected"), current2)
		patch(ctx, configMap("new", ""), `{"data":{"setting":"drifted"}}`)
		eventually(ctx, "what is installed to be kept", func(ctx context.Context) error { return has(ctx, configMap("new", ""), "one", "data", "setting") })
		Expect(old.Advance(10*time.Minute + time.Second)).To(Succeed())
		until(ctx, "it to be told as trouble", says("Degraded", "True", "EphemeralError", "is for release 4.22.6"), says("Available", "True", "AsExpected"))

		Expect(old.Stop()).To(Succeed())
		operate(harness.OperatorOptions{Release: "4.22.6"})
		v := installed(ctx, 3)
		Expect(v.Current()).To(HavePrefix("4.22.6-"))
		uids(ctx, configMap("newer", ""))
		expectGone(ctx, configMap("new", ""))
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("is waited for where nothing is installed yet", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		nextRelease(ctx, "4.22.6", newProvider("alpha"))
		old := operate(harness.OperatorOptions{Release: "4.22.5"})
		until(ctx, "the other release to be waited for", inState(harness.WaitingOnInfra),
			says("Progressing", "True", "WaitingOnExternal", "is for release 4.22.6"), says("Degraded", "False", "AsExpected"), listed(0))
		Expect(old.Stop()).To(Succeed())
		operate(harness.OperatorOptions{Release: "4.22.6"})
		installed(ctx, 1)
	})
})

// current2 says that revision 2 is the current one.
func current2(v harness.View) error { return current(v, 2) }

// nextRelease lists images as the manifests of a release do, which name it.
func nextRelease(ctx context.Context, version string, all ...*provider) {
	GinkgoHelper()
	release(ctx, all...)
	list := configMap(harness.ImagesConfigMap, "")
	list.SetNamespace(harness.OperatorNamespace)
	Expect(env.Client.Patch(ctx, list, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"capi-operator.openshift.io/release-version":"`+version+`"}}}`)))).To(Succeed())
}
