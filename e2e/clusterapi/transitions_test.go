package clusterapi_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// touch changes an annotation of the Infrastructure, which wakes the controllers.
func touch(ctx context.Context) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, time.Now())
	return env.Client.Patch(ctx, &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}, client.RawPatch(types.MergePatchType, patch))
}

var _ = Describe("A condition", func() {
	It("keeps the moment of its last transition, however late the operator sees what it has written", func(ctx SpecContext) {
		config, err := env.OperatorConfig()
		Expect(err).NotTo(HaveOccurred())
		between, err := proxy.Start(config)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(between.Stop()).To(Succeed()) })
		between.Add(proxy.Rule{Verb: "watch", Resource: "clusteroperators", Fault: proxy.Late(1500 * time.Millisecond)})

		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, small("one"))})
		operators, err := configclient.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		seen, err := operators.ClusterOperators().Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: harness.ClusterOperatorName}))
		Expect(err).NotTo(HaveOccurred())
		defer seen.Stop()
		operate(harness.OperatorOptions{Through: between.URL()})
		until(ctx, "what requirements there are", says("CompatibilityControllerDegraded", "False", "AsExpected"))
		// Times of conditions are whole seconds.
		Consistently(func() error { return touch(ctx) }, "1200ms", "200ms").Should(Succeed(), "what all controllers look at changes, while none sees what it has written")
		installed(ctx, 1)
		release(ctx, small("two"))
		installed(ctx, 2)
		until(ctx, "the conditions of a finished installation", finished)

		end, err := harness.See(ctx, env.Client)
		Expect(err).NotTo(HaveOccurred())

		last := map[configv1.ClusterStatusConditionType]configv1.ClusterOperatorStatusCondition{}
		changes := 0
		for told := range seen.ResultChan() {
			operator, isOperator := told.Object.(*configv1.ClusterOperator)
			Expect(isOperator).To(BeTrue(), fmt.Sprint(told))
			for _, c := range operator.Status.Conditions {
				if before := last[c.Type]; before.Status == c.Status {
					Expect(c.LastTransitionTime).To(Equal(before.LastTransitionTime), "%s stays %s", c.Type, c.Status)
				}
				last[c.Type] = c
				changes++
			}
			if operator.ResourceVersion == end.ClusterOperator.ResourceVersion {
				break
			}
		}
		Expect(changes).To(BeNumerically(">", 0))
	})
})
