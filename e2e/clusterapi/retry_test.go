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

// retryAnnotation is that by which an administrator asks for another attempt.
const retryAnnotation = "capi-operator.openshift.io/retry"

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
	Expect(annotated(ctx, name, value)).To(Succeed())
}

// annotated does so, and says what the API server says.
func annotated(ctx context.Context, name, value string) error {
	api := &operatorv1alpha1.ClusterAPI{}
	api.Name = harness.Singleton
	merge := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, name, value)
	return env.Client.Patch(ctx, api, client.RawPatch("application/merge-patch+json", []byte(merge)), administrator)
}
