package clusterapi_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("What an image may not contain", func() {
	shell := object(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shell}
rules: [{apiGroups: [""], resources: [pods/exec], verbs: [create]}]
`)

	It("is refused before it is listed, with document, line and rule, and installed by an exception", func(ctx SpecContext) {
		core := push(ctx, newProvider("alpha"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: core})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		wanted := push(ctx, newProvider("alpha").with(shell))
		Expect(env.SetImages(ctx, wanted)).To(Succeed())
		refused := until(ctx, "the image to be refused", inState(harness.Degraded),
			says("Degraded", "True", "NonRetryableError", "document 9", "ClusterRole shell", "field rules[0].resources",
				"rule permission of the policy", "exceptions: ConfigMap openshift-cluster-api-operator/capi-installer-exceptions"))
		Expect(refused.Revisions()).To(HaveLen(1))
		expectGone(ctx, shell)

		exceptions := allow(ctx, wanted["alpha"], "permissions", "ClusterRole shell")
		annotate(ctx, retryAnnotation, "one")
		until(ctx, "the exception to be refused", says("Degraded", "True", "NonRetryableError", "capi-installer-exceptions", "exception mine", `there is no rule "permissions"`))

		exceptions.Data["mine"] = strings.Replace(exceptions.Data["mine"], "permissions", "permission", 1)
		Expect(env.Client.Update(ctx, exceptions, administrator)).To(Succeed())
		annotate(ctx, retryAnnotation, "two")
		installed(ctx, 2)
		uids(ctx, shell)
	})
})

// allow lets an object of any image of a repository break a rule, until the spec ends.
func allow(ctx context.Context, image, rule, object string) *corev1.ConfigMap {
	GinkgoHelper()
	repository, _, _ := strings.Cut(image, "@")
	exceptions := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capi-installer-exceptions"},
		Data:       map[string]string{"mine": "reason: the spec wants it\nimage: " + repository + "\nrule: " + rule + "\nobject: " + object + "\n"},
	}
	Expect(env.Client.Create(ctx, exceptions, administrator)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(env.Client.Delete(ctx, exceptions))).To(Succeed()) })
	return exceptions
}
