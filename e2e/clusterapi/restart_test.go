package clusterapi_test

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An operator that is killed", func() {
	It("in the middle of Applying goes on where it was, whatever it had written", func(ctx SpecContext) {
		alpha, beta := newProvider("alpha").with(custom("alpha", "one")), newProvider("beta").at(30)
		for i := range 10 {
			beta.with(configMap(fmt.Sprintf("settings-%d", i), "one"))
		}
		all := slices.Concat(alpha.objects, beta.objects)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha, beta)})
		seen := map[string]types.UID{}
		for _, until := range []*unstructured.Unstructured{
			alpha.find("ServiceAccount", "alpha"), alpha.find("Deployment", "alpha"), custom("alpha", "one"), configMap("settings-5", "one"),
		} {
			operator := operate(harness.OperatorOptions{})
			appears(ctx, until)
			operator.Kill()
			for _, o := range all {
				if found, err := fetch(ctx, o); err == nil {
					Expect(seen).To(Or(Not(HaveKey(id(o))), HaveKeyWithValue(id(o), found.GetUID())), "created twice")
					seen[id(o)] = found.GetUID()
				}
			}
		}
		operate(harness.OperatorOptions{})
		v := installed(ctx, 1)
		Expect(v.Revisions()[0].Revision).To(Equal(int64(1)))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-1"))
		for _, o := range all {
			if uid, was := seen[id(o)]; was {
				Expect(fetched(ctx, o).GetUID()).To(Equal(uid), id(o))
			}
		}
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("while an upgrade is stuck goes on with it, and publishes nothing twice", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		before := uids(ctx, newProvider("alpha").objects...)
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		stuck := soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		operator.Kill()
		operate(harness.OperatorOptions{SteeredClock: true})
		free()
		v := installed(ctx, 2)
		Expect(string(v.Revisions()[0].Name)).To(Equal(string(stuck.Revisions()[1].Name)))
		Expect(uids(ctx, newProvider("alpha").objects...)).To(Equal(before))
	})

	It("in the middle of Pruning leaves no orphan", func(ctx SpecContext) {
		alpha := newProvider("alpha").with(configMap("goes", "one"))
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha, gamma)})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		before := uids(ctx, newProvider("alpha").objects...)
		// A finalizer keeps Pruning from its end.
		patch(ctx, gamma.find("Service", "gamma"), `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`)
		release(ctx, newProvider("alpha"))
		soon(ctx, "Pruning to wait for the finalizer", inState(harness.Pruning),
			says("Progressing", "True", "Progressing", "Service openshift-cluster-api/gamma", "test.cluster.x-k8s.io/hold"))
		operator.Kill()
		patch(ctx, gamma.find("Service", "gamma"), `{"metadata":{"finalizers":null}}`)
		operate(harness.OperatorOptions{SteeredClock: true})
		v := installed(ctx, 2)
		expectGone(ctx, append(gamma.objects, configMap("goes", "one"))...)
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(uids(ctx, newProvider("alpha").objects...)).To(Equal(before))
		until(ctx, "the conditions of a finished installation", finished)
	})
})

var _ = Describe("A ClusterAPI object", func() {
	It("that is deleted and created again costs no object, and numbers go on rising", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		before := uids(ctx, alpha.objects...)

		Expect(env.Client.Delete(ctx, &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}})).To(Succeed())
		until(ctx, "the loss to be reported", inState(harness.WaitingOnInfra), says("Progressing", "True", "WaitingOnExternal", "ClusterAPI cluster does not exist"))
		Expect(env.CreateClusterAPI(ctx)).To(Succeed())
		v := installed(ctx, 2)
		Expect(uids(ctx, alpha.objects...)).To(Equal(before))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))
		Expect(v.Revisions()).To(HaveLen(1))
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("that is deleted and created again during an upgrade costs no object either", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one").with(configMap("goes", "one")))})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		before := uids(ctx, newProvider("alpha").objects...)
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))

		Expect(env.Client.Delete(ctx, &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}})).To(Succeed())
		until(ctx, "the loss to be reported", inState(harness.WaitingOnInfra), says("Progressing", "True", "WaitingOnExternal", "ClusterAPI cluster does not exist"))
		Expect(env.CreateClusterAPI(ctx)).To(Succeed())
		free()
		v := installed(ctx, 3)
		Expect(uids(ctx, newProvider("alpha").objects...)).To(Equal(before))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-3"))
		Expect(v.Revisions()[0].Revision).To(Equal(int64(3)))
		expectGone(ctx, configMap("goes", "one"))
	})
})

// appears waits until an object exists.
func appears(ctx context.Context, o *unstructured.Unstructured) {
	GinkgoHelper()
	eventually(ctx, id(o)+" to exist", func(ctx context.Context) error {
		_, err := fetch(ctx, o)
		return err
	})
}

// id names an object in a map.
func id(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }
