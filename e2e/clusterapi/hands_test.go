package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A status edited by hand", func() {
	It("costs no object, whatever was taken out of it", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		before := uids(ctx, alpha.objects...)

		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) { s.CurrentRevision = "" })
		v := installed(ctx, 1)
		Expect(v.Revisions()[0].Revision).To(Equal(int64(1)))

		// An entry of somebody else's making: the desired revision, and not what the inputs ask for.
		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
			made := *s.Revisions[0].DeepCopy()
			made.Name, made.Revision, made.ContentID = "4.22.0-0badc0de-7", 7, strings.Repeat("0badc0de", 8)
			s.Revisions = append(s.Revisions, made)
			s.DesiredRevision = made.Name
		})
		v = installed(ctx, 8)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(uids(ctx, alpha.objects...)).To(Equal(before))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-8"))
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("is put in order by way of Planning where revisions were added that nobody needs", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		v := until(ctx, "the conditions of a finished installation", finished)
		before, moves := uids(ctx, alpha.objects...), len(v.Record.Transitions)

		// A copy of what is installed, which is the desired revision from now on, and before it somebody else's.
		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
			foreign, again := *s.Revisions[0].DeepCopy(), *s.Revisions[0].DeepCopy()
			foreign.Name, foreign.Revision, foreign.ContentID = "4.22.0-0badc0de-5", 5, strings.Repeat("0badc0de", 8)
			again.Name, again.Revision = operatorv1alpha1.RevisionName(strings.TrimSuffix(string(again.Name), "1")+"7"), 7
			s.Revisions = append(s.Revisions, foreign, again)
			s.DesiredRevision = again.Name
		})
		installed(ctx, 7)
		eventually(ctx, "the other inventories to be gone", func(ctx context.Context) error {
			if names := inventories(ctx); !slices.Equal(names, []string{"capstan-inventory-7"}) {
				return fmt.Errorf("there are %v", names)
			}
			return nil
		})
		v = until(ctx, "the conditions of a finished installation", finished)
		Expect(path(v)[moves:]).To(Equal([]string{"ListDisturbed", "RevisionPublished", "RevisionApplied", "OrphansGone"}))
		Expect(uids(ctx, alpha.objects...)).To(Equal(before))
	})

	It("or an inventory that was deleted by hand costs no object, and no orphan later", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(configMap("goes", "one")))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		before := uids(ctx, newProvider("alpha").objects...)
		inventory := configMap("capstan-inventory-1", "")
		inventory.SetNamespace(harness.OperatorNamespace)
		lost := fetched(ctx, inventory).GetUID()
		Expect(env.Client.Delete(ctx, inventory.DeepCopy())).To(Succeed())
		within(ctx, quickly, "inventory deleted", func(ctx context.Context) error {
			found, err := fetch(ctx, inventory)
			if err == nil && found.GetUID() == lost {
				err = errors.New("it is still the old one")
			}
			return err
		})

		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		expectGone(ctx, configMap("goes", "one"))
		Expect(uids(ctx, newProvider("alpha").objects...)).To(Equal(before))
	})

	It("is written again when it is the record or the conditions", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
		for _, extension := range []string{``, `{"clusterapi":{"state":"Nonsense"}}`, `{"clusterapi":"nonsense"}`, `{"clusterapi":{"state":"Degraded"}}`} {
			edit(ctx, func(s *configv1.ClusterOperatorStatus) {
				s.Extension = runtime.RawExtension{}
				if extension != "" {
					s.Extension.Raw = []byte(extension)
				}
			})
			until(ctx, "the record to be written again after "+extension, harness.Settled(1), finished)
		}
		edit(ctx, func(s *configv1.ClusterOperatorStatus) { s.Conditions, s.Versions, s.RelatedObjects = nil, nil, nil })
		v := until(ctx, "the conditions to be written again", finished, func(v harness.View) error {
			if len(v.ClusterOperator.Status.Versions) != 1 || len(v.ClusterOperator.Status.RelatedObjects) < 5 {
				return fmt.Errorf("the versions are %v, the related objects %v", v.ClusterOperator.Status.Versions, v.ClusterOperator.Status.RelatedObjects)
			}
			return nil
		})
		Expect(v.Revisions()[0].Revision).To(Equal(int64(1)))
		edit(ctx, func(s *configv1.ClusterOperatorStatus) {
			for i := range s.Conditions {
				s.Conditions[i].Status, s.Conditions[i].Reason = "Unknown", "ByHand"
			}
		})
		until(ctx, "the conditions to be written again", finished)
	})
})

var _ = Describe("Two operators", func() {
	It("take turns: only the leader writes, and the other takes over when it is killed", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		elect := harness.OperatorOptions{LeaderElect: true}
		since := mark(ctx) // the leader may be through with its work before its log tells that it leads
		leader := operate(elect)
		eventually(ctx, "the first operator to lead", leads(leader))
		other := operate(elect)
		installed(ctx, 1)
		Expect(leads(other)(ctx)).NotTo(Succeed())
		created := requests(ctx, since).Where(func(r cluster.Request) bool { return r.IsCreation() && r.Resource == "deployments" })
		Expect(created).To(HaveLen(1), created.String())

		leader.Kill()
		release(ctx, newProvider("alpha").set("ConfigMap", "alpha", "two", "data", "setting"))
		v := installed(ctx, 2)
		Expect(leads(other)(ctx)).To(Succeed())
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(setting(ctx, configMap("alpha", ""))).To(Equal("two"))
	})
})

// leads is nil when the operator has said that it works, which only the leader does.
func leads(operator *harness.Operator) func(context.Context) error {
	return func(context.Context) error {
		log, err := os.ReadFile(operator.Log)
		if err == nil && !strings.Contains(string(log), "Starting workers") {
			err = errors.New("its log does not say that it has begun to work")
		}
		return err
	}
}

// edit changes the status of the ClusterOperator as an administrator would.
func edit(ctx context.Context, change func(*configv1.ClusterOperatorStatus)) {
	GinkgoHelper()
	eventually(ctx, "an edit of the ClusterOperator's status", func(ctx context.Context) error {
		v, err := harness.See(ctx, env.Client)
		if err != nil {
			return err
		}
		change(&v.ClusterOperator.Status)
		return env.Client.Status().Update(ctx, v.ClusterOperator, administrator)
	})
}
