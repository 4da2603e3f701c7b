package clusterapi_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A pause, whatever happens meanwhile,", func() {
	It("does not count while the clock is set back to before it, counts again when that is put right, and ends when it is set forth", func(ctx SpecContext) {
		deleted := configMap("deleted", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(deleted))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
		drift := func(questions ...func(harness.View) error) {
			GinkgoHelper()
			until(ctx, "it to be paused", inState(harness.Paused))
			since := mark(ctx)
			Expect(env.Client.Delete(ctx, deleted.DeepCopy())).To(Succeed())
			until(ctx, "the deletion to be told", append(questions, inState(harness.Paused), differs("ConfigMap openshift-cluster-api/deleted"))...)
			wroteOnlyItsReport(ctx, since)
		}
		pauseFrom(ctx, env.Now())
		drift()

		By("setting the clock back, which no timer notices")
		Expect(operator.Advance(-10 * time.Minute)).To(Succeed())
		Expect(env.Client.Delete(ctx, configMap("alpha", ""))).To(Succeed())
		appears(ctx, deleted)
		appears(ctx, configMap("alpha", ""))
		until(ctx, "the act to be told as void", inState(harness.Installed), says("InstallerControllerProgressing", "False", "AsExpected", "more than a minute ahead"))

		By("putting it right")
		Expect(operator.Advance(10 * time.Minute)).To(Succeed())
		drift()

		By("setting it forth")
		Expect(operator.Advance(61 * time.Minute)).To(Succeed())
		appears(ctx, deleted)
		installed(ctx, 1)
	})

	It("ends with the ClusterAPI that is deleted, with which nothing goes, and does not stand for the next one", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		before := uids(ctx, newProvider("alpha").objects...)
		pauseFrom(ctx, time.Now())
		until(ctx, "it to be paused", inState(harness.Paused))
		since := mark(ctx)
		release(ctx, newProvider("alpha").with(configMap("new", "one")))
		until(ctx, "the release to be told", inState(harness.Paused), says("Progressing", "False", "WaitingOnExternal", "the inputs ask for content"))
		wroteOnlyItsReport(ctx, since)

		Expect(env.Client.Delete(ctx, &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}})).To(Succeed())
		until(ctx, "the loss to be reported", inState(harness.WaitingOnInfra), says("Progressing", "True", "WaitingOnExternal", "ClusterAPI cluster does not exist"))
		expectGone(ctx, configMap("new", ""))
		Expect(requests(ctx, since).Where(func(r cluster.Request) bool { return r.IsWrite() && r.Verb == "delete" && r.Resource != "configmaps" })).To(BeEmpty())
		Expect(uids(ctx, newProvider("alpha").objects...)).To(Equal(before))

		Expect(env.CreateClusterAPI(ctx)).To(Succeed())
		installed(ctx, 2)
		Expect(uids(ctx, newProvider("alpha").objects...)).To(Equal(before))
		appears(ctx, configMap("new", ""))
	})

	It("lets go what is being deleted when its finalizer goes, hastens nothing, and brings nothing back before its end", func(ctx SpecContext) {
		goes, held := configMap("goes", "one"), configMap("held", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(goes, held))})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		for _, o := range []string{"goes", "held"} {
			patch(ctx, configMap(o, ""), `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`)
		}
		release(ctx, newProvider("alpha").with(held))
		soon(ctx, "Pruning to wait for the finalizer", inState(harness.Pruning), says("Progressing", "True", "Progressing", "test.cluster.x-k8s.io/hold"))
		pauseFrom(ctx, env.Now())
		until(ctx, "it to be paused", inState(harness.Paused))

		since := mark(ctx)
		Expect(env.Client.Delete(ctx, configMap("held", ""))).To(Succeed())
		until(ctx, "what somebody deletes to be told", inState(harness.Paused), differs("ConfigMap openshift-cluster-api/held"))
		for _, o := range []string{"goes", "held"} {
			patch(ctx, configMap(o, ""), `{"metadata":{"finalizers":null}}`)
		}
		until(ctx, "it to be told as missing", inState(harness.Paused), differs("ConfigMap openshift-cluster-api/held does not exist"))
		expectGone(ctx, goes, held)
		wroteOnlyItsReport(ctx, since)

		annotateAway(ctx, pauseAnnotation)
		installed(ctx, 2)
		appears(ctx, held)
		expectGone(ctx, goes)
	})

	It("is told by the commands that ask for something else, which changes nothing before its end", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		release(ctx, newProvider("alpha").with(configMap("new", "two")))
		installed(ctx, 2)
		until(ctx, "the conditions of a finished installation", finished)
		pauseFrom(ctx, time.Now())
		until(ctx, "it to be paused", inState(harness.Paused))

		since := mark(ctx)
		paused := ContainSubstring("It is paused by " + me(ctx) + " until ")
		Expect(admin().run(ctx, 0, "retry", "--yes")).To(paused)
		Expect(admin().run(ctx, 0, "recover", "--dry-run")).To(paused)
		Expect(rollback(ctx, codeStops, "1", "--yes").Plan.stops()).To(ContainElement("pause"))
		Expect(admin().run(ctx, codeStops, withCache([]string{"rollback", "1", "--reason", "r", "--yes"})...)).To(And(
			MatchRegexp(`pause +by `+me(ctx)+` since `), ContainSubstring("Refused: nothing was written.")))
		until(ctx, "it to be paused still", inState(harness.Paused))
		wroteOnlyItsReport(ctx, since)
	})
})
