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

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An upgrade", func() {
	It("adds, changes and removes objects, and keeps the identity of all others", func(ctx SpecContext) {
		one := newProvider("alpha").with(configMap("stays", "one"), configMap("changes", "one"), configMap("goes", "one"))
		left := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, one, newProvider("gamma").at(30).with(configMap("moves", "one")))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		kept := append(newProvider("alpha").objects, configMap("stays", "one"), configMap("changes", "one"), configMap("moves", "one"))
		before := uids(ctx, kept...)

		release(ctx, newProvider("alpha").with(configMap("stays", "one"), configMap("changes", "two"), configMap("comes", "two")),
			newProvider("beta").at(30).with(configMap("moves", "one")))
		v := installed(ctx, 2)

		Expect(components(v)).To(Equal([]string{"alpha", "beta"}))
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(v.Revisions()[0].Revision).To(Equal(int64(2)))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))
		expectGone(ctx, append(left.objects, configMap("goes", "one"))...)
		Expect(uids(ctx, kept...)).To(Equal(before))
		Expect(fetched(ctx, configMap("changes", "two")).Object).To(HaveKeyWithValue("data", HaveKeyWithValue("setting", "two")))
		uids(ctx, append(newProvider("beta").objects, configMap("comes", "two"))...)
		Expect(has(ctx, configMap("moves", ""), "beta", "metadata", "labels", harness.ManagedByLabel)).To(Succeed())
		// A quick passage is written when it is over.
		until(ctx, "every move of it to be told", finished, func(v harness.View) error {
			want := []string{"ContentChanged", "RevisionPublished", "RevisionApplied", "OrphansGone"}
			if made := path(v); len(made) < 4 || !slices.Equal(made[4:], want) {
				return fmt.Errorf("the moves are %v", made)
			}
			return nil
		})
	})

	It("that is taken back while it is stuck leaves everything as it was", func(ctx SpecContext) {
		one := newProvider("alpha").running("one").with(configMap("goes", "one"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, one)})
		operate(harness.OperatorOptions{SteeredClock: true})
		first := installed(ctx, 1)
		before := uids(ctx, one.objects...)

		hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"), newProvider("beta").at(30))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		expectGone(ctx, newProvider("beta").objects...)
		release(ctx, one)
		v := installed(ctx, 3)

		Expect(v.Revisions()[0].ContentID).To(Equal(first.Revisions()[0].ContentID))
		Expect(v.Revisions()[0].Revision).To(Equal(int64(3)))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-3"))
		Expect(uids(ctx, one.objects...)).To(Equal(before))
		Expect(podVersion(ctx, "alpha")).To(Equal("one"))
	})

	DescribeTable("whose revision somebody takes off the list while it is stuck and the operator away leaves no mixture", func(ctx SpecContext, lost bool) {
		one := newProvider("alpha").running("one").with(configMap("mixed", "one"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, one)})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two").with(configMap("mixed", "two")))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(fetched(ctx, configMap("mixed", "")).Object["data"]).To(HaveKeyWithValue("setting", "two"))

		operator.Kill()
		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
			s.Revisions, s.DesiredRevision = s.Revisions[:1], s.Revisions[0].Name
		})
		if lost {
			Expect(env.Client.Delete(ctx, inventory(2))).To(Succeed())
		}
		release(ctx, one)
		operate(harness.OperatorOptions{SteeredClock: true})
		v := installed(ctx, 3)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(fetched(ctx, configMap("mixed", "")).Object["data"]).To(HaveKeyWithValue("setting", "one"))
		Expect(podVersion(ctx, "alpha")).To(Equal("one"))
	},
		Entry("when its inventory tells of it", false),
		Entry("when only the objects tell of it", true),
	)

	It("during an upgrade that is stuck wins over it", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)

		hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two").with(configMap("only-in-two", "two")))
		v := soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(v.Revisions()).To(HaveLen(2))
		Expect(v.Revision(v.Current()).Revision).To(Equal(int64(1)))
		release(ctx, newProvider("alpha").running("three"))
		v = installed(ctx, 3)

		Expect(v.Revisions()).To(HaveLen(1))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-3"))
		Expect(podVersion(ctx, "alpha")).To(Equal("three"))
		expectGone(ctx, configMap("only-in-two", "two"))
	})

	It("that is stuck keeps the last good revision applied, but for what the new one has taken over", func(ctx SpecContext) {
		one := newProvider("alpha").running("one").with(configMap("goes", "one"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, one)})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two").set("ConfigMap", "alpha", "two", "data", "setting"))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))

		Expect(env.Client.Delete(ctx, configMap("goes", "one"))).To(Succeed())
		eventually(ctx, "what only the old revision has to be created again", func(ctx context.Context) error {
			_, err := fetch(ctx, configMap("goes", "one"))
			return err
		})
		Expect(setting(ctx, configMap("alpha", ""))).To(Equal("two"))
		free()
		installed(ctx, 2)
		expectGone(ctx, configMap("goes", "one"))
	})
})

var _ = Describe("A new revision", func() {
	It("takes over from one that is still being pruned, and nothing is forgotten", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(configMap("goes", "one")))})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		patch(ctx, configMap("goes", ""), `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`)
		release(ctx, newProvider("alpha").with(configMap("two", "two")))
		soon(ctx, "Pruning to wait for the finalizer", inState(harness.Pruning), says("Progressing", "True", "Progressing", "test.cluster.x-k8s.io/hold"))
		release(ctx, newProvider("alpha").with(configMap("three", "three")))
		v := soon(ctx, "Pruning to wait for it again", inState(harness.Pruning), says("Progressing", "True", "Progressing", "test.cluster.x-k8s.io/hold"),
			func(v harness.View) error { return current(v, 3) })
		Expect(v.Revisions()).To(HaveLen(3))
		patch(ctx, configMap("goes", ""), `{"metadata":{"finalizers":null}}`)
		installed(ctx, 3)
		expectGone(ctx, configMap("goes", ""), configMap("two", ""))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-3"))
	})

	It("is made when the TLS profile of the cluster changes", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, emptyProvider("alpha").with(configMap("tls", "${TLS_MIN_VERSION}")))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(setting(ctx, configMap("tls", ""))).To(Equal("VersionTLS12"))
		profile := &configv1.APIServer{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
		profile.Spec.TLSSecurityProfile = &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}}
		Expect(env.Client.Create(ctx, profile)).To(Succeed())
		installed(ctx, 2)
		Expect(setting(ctx, configMap("tls", ""))).To(Equal("VersionTLS13"))
	})

	It("is not made for a new release of the operator that brings the same content", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, emptyProvider("alpha").with(configMap("alpha", "one")))})
		operator := operate(harness.OperatorOptions{Release: "4.22.0"})
		first := installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		operate(harness.OperatorOptions{Release: "4.22.1"})
		v := until(ctx, "the new release to be reported", harness.Settled(1), func(v harness.View) error {
			if versions := v.ClusterOperator.Status.Versions; len(versions) != 1 || versions[0].Version != "4.22.1" {
				return fmt.Errorf("the versions are %v", versions)
			}
			return nil
		})
		Expect(v.Revisions()).To(Equal(first.Revisions()))
	})
})

// current is nil when the current revision has this number.
func current(v harness.View, number int64) error {
	if revision := v.Revision(v.Current()); revision == nil || revision.Revision != number {
		return fmt.Errorf("the current revision is %q, want number %d", v.Current(), number)
	}
	return nil
}

// stuckOn is the question whether the desired revision is being applied and
// waits for an object, by the message that an administrator reads.
func stuckOn(object string) func(harness.View) error {
	return func(v harness.View) error {
		if err := inState(harness.Applying)(v); err != nil {
			return err
		}
		return says("Progressing", "True", "Progressing", object)(v)
	}
}

// podVersion is the version of the pods that a provider's Deployment asks for.
func podVersion(ctx context.Context, name string) string {
	GinkgoHelper()
	return fmt.Sprint(field(fetched(ctx, newProvider(name).find("Deployment", name)), "spec", "template", "metadata", "labels", "version"))
}
