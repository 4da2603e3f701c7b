package clusterapi_test

import (
	"context"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// The annotations by which an administrator speaks to the machine.
const (
	consentAnnotation = "capi-operator.openshift.io/consent-to-delete"
	retryAnnotation   = "capi-operator.openshift.io/retry"
)

var _ = Describe("Consent to lose data", func() {
	It("deletes a retained definition with its instances, for the revision that it names and no other, whatever the content", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		definition := gamma.objects[0]
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		operate(harness.OperatorOptions{})
		first := installed(ctx, 1)
		Expect(first.Revisions()).To(HaveLen(1))
		Expect(env.Client.Create(ctx, custom("gamma", "mine"), administrator)).To(Succeed())
		annotate(ctx, consentAnnotation, "1")

		release(ctx, newProvider("alpha"))
		second := installed(ctx, 2)
		until(ctx, "the message to say how to consent", says("Upgradeable", "True", "AsExpected", definition.GetName(), "holds 1 instance",
			consentAnnotation+"=2", "the consent that is given is not for revision 2"))
		until(ctx, "an Event of it", func(harness.View) error { return announced(ctx, "Retained", definition.GetName()) })
		uids(ctx, definition, custom("gamma", "mine"))

		annotate(ctx, consentAnnotation, second.Revisions()[0].ContentID) // the former form
		annotate(ctx, retryAnnotation, "now")
		until(ctx, "the message to say that it is void", says("Upgradeable", "True", "AsExpected", "the consent that is given is not for revision 2"))
		uids(ctx, definition, custom("gamma", "mine"))

		annotate(ctx, consentAnnotation, "2")
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, definition) })
		until(ctx, "the conditions of a finished installation", finished)

		By("going back, and forth again with new instances")
		release(ctx, newProvider("alpha"), gamma)
		installed(ctx, 3)
		Expect(env.Client.Create(ctx, custom("gamma", "again"), administrator)).To(Succeed())
		release(ctx, newProvider("alpha"))
		installed(ctx, 4)
		until(ctx, "the message to ask for another consent", says("Upgradeable", "True", "AsExpected", definition.GetName(), "holds 1 instance",
			consentAnnotation+"=4", "the consent that is given is not for revision 4"))
		uids(ctx, definition, custom("gamma", "again"))
	})
})

var _ = Describe("Another attempt", func() {
	It("is made when the administrator asks for it, also after a terminal error", func(ctx SpecContext) {
		broken := emptyProvider("alpha").files()
		for name := range broken {
			broken[name] = []byte("{")
		}
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{"alpha": pushFiles(ctx, "alpha", broken)}})
		operate(harness.OperatorOptions{})
		degraded := until(ctx, "the operator to give up", inState(harness.Degraded), says("Degraded", "True", "NonRetryableError", retryAnnotation))
		for attempt := range 2 {
			moves := len(degraded.Record.Transitions)
			annotate(ctx, retryAnnotation, strconv.Itoa(attempt))
			degraded = until(ctx, "another attempt", inState(harness.Degraded), func(v harness.View) error {
				if made := path(v)[moves:]; len(made) != 2 || made[0] != "InputChanged" || made[1] != "FailureEstablished" {
					return fmt.Errorf("the moves since are %v", made)
				}
				return nil
			})
		}
	})
})

// annotate writes an annotation of the ClusterAPI as kubectl would.
func annotate(ctx context.Context, name, value string) {
	GinkgoHelper()
	api := &operatorv1alpha1.ClusterAPI{}
	api.Name = harness.Singleton
	merge := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, name, value)
	Expect(env.Client.Patch(ctx, api, client.RawPatch("application/merge-patch+json", []byte(merge)), administrator)).To(Succeed())
}
