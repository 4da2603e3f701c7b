package clusterapi_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// crowd is how many objects are refused: their errors take ten times the bytes that a record may have.
const crowd = 1000

// recordLimit bounds what the machine stores of itself, and conditionLimit what a condition says.
const recordLimit, conditionLimit = 64 << 10, 1 << 10

var _ = Describe("A crowd of objects that are refused", func() {
	It("is told in few words, leads to Degraded, and is installed as soon as it is not refused any more", func(ctx SpecContext) {
		all := newProvider("alpha")
		for i := range crowd {
			all.with(configMap(fmt.Sprintf("crowd-%d-%s", i, strings.Repeat("x", 200)), "one"))
		}
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, all)})
		none := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.CAPINamespace, Name: "none"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("0")}},
		}
		Expect(env.Client.Create(ctx, none)).To(Succeed())
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		until(ctx, "it to be told", says("Progressing", "True", "EphemeralError", "is forbidden"))
		Expect(operator.Advance(5*time.Minute + time.Second)).To(Succeed())
		v := until(ctx, "the error to be told as lasting", inState(harness.Degraded), says("Degraded", "True", "EphemeralError", "is forbidden"))
		Expect(len(v.ClusterOperator.Status.Extension.Raw)).To(BeNumerically("<", 2*recordLimit), "the record and the detail")
		for _, c := range v.ClusterOperator.Status.Conditions {
			Expect(len(c.Message)).To(BeNumerically("<=", conditionLimit), string(c.Type))
		}
		Expect(env.Client.Delete(ctx, none)).To(Succeed())
		Expect(operator.Advance(31 * time.Second)).To(Succeed())
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
	})
})
