package clusterapi_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An error that may heal by itself and lasts for five minutes", func() {
	retries := says(revisionController+"Degraded", "False", "AsExpected")

	It("is Degraded also where the inputs cannot be planned and a rollout goes on", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), newProvider("beta"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		free, freeLate := hold(ctx, "soon"), hold(ctx, "late")
		release(ctx, newProvider("alpha").running("soon"), newProvider("beta").at(30).running("late"))
		soon(ctx, "the rollout to wait", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(env.Client.Delete(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: harness.ImagesConfigMap},
		})).To(Succeed())
		until(ctx, "the error to be told", says(revisionController+"Progressing", "True", ephemeral, harness.ImagesConfigMap), retries)

		Expect(operator.Advance(4 * time.Minute)).To(Succeed())
		free()
		until(ctx, "the rollout to wait for the next one", says(installerController+"Progressing", "True", "Progressing", "waits for Deployment openshift-cluster-api/beta"), retries)
		Expect(operator.Advance(61 * time.Second)).To(Succeed())
		degraded := says(revisionController+"Degraded", "True", ephemeral, harness.ImagesConfigMap)
		until(ctx, "the error to be told as lasting", inState(harness.Applying), degraded, says("Degraded", "True", ephemeral),
			says(installerController+"Degraded", "False", "AsExpected"))
		Expect(operator.Stop()).To(Succeed())
		operate(harness.OperatorOptions{SteeredClock: true})
		freeLate()
		until(ctx, "the rollout to be finished", func(v harness.View) error { return current(v, 2) }, degraded)
		release(ctx, newProvider("alpha").running("soon"), newProvider("beta").at(30).running("late"))
		until(ctx, "nothing to be wrong", fine)
	})

	It("is Degraded also while there is no ClusterAPI", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		lift := deny(ctx, "alpha")
		Expect(env.Client.Delete(ctx, &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}})).To(Succeed())
		until(ctx, "the loss to be told", inState(harness.WaitingOnInfra))
		Expect(env.Client.Delete(ctx, configMap("alpha", ""))).To(Succeed())
		until(ctx, "the error to be told", inState(harness.WaitingOnInfra),
			says(installerController+"Progressing", "True", ephemeral, "ConfigMap openshift-cluster-api/alpha"), says(installerController+"Degraded", "False", "AsExpected"))
		Expect(operator.Advance(5*time.Minute + time.Second)).To(Succeed())
		until(ctx, "the error to be told as lasting", inState(harness.WaitingOnInfra),
			says(installerController+"Degraded", "True", ephemeral, "ConfigMap openshift-cluster-api/alpha"), says("Degraded", "True", ephemeral))
		lift()
		Expect(operator.Advance(31 * time.Second)).To(Succeed())
		until(ctx, "the error to be over", inState(harness.WaitingOnInfra), says("Degraded", "False", "AsExpected"))
	})
})

var _ = Describe("A rollout that was given up", func() {
	It("goes on while the inputs cannot be planned", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		soon(ctx, "the rollout to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(operator.Advance(5*time.Minute + time.Second)).To(Succeed())
		until(ctx, "the rollout to be given up", inState(harness.Degraded))
		Expect(env.SetImages(ctx, map[string]string{"alpha": "registry.example/alpha:latest"})).To(Succeed())
		until(ctx, "the error to be told", says(revisionController+"Degraded", "True", nonRetryable, "by tag"))
		free()
		until(ctx, "the rollout to be finished", func(v harness.View) error { return current(v, 2) },
			says(revisionController+"Degraded", "True", nonRetryable, "by tag"))
	})
})
