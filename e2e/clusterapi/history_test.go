package clusterapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// pastRevision is what the history holds of one revision.
type pastRevision struct {
	Number                       int64
	Name, Release, Cause, Result string
	ContentID                    string
	Listed, Applied, Ended       time.Time
	Counts                       map[string]int64
	Components                   []struct{ Name, Image string }
}

var _ = Describe("The history of revisions", func() {
	It("tells what was listed, why, and what became of it, and only the operator writes it", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one").with(configMap("goes", "one")))})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		release(ctx, newProvider("alpha").running("three"))
		v := installed(ctx, 3)
		free()

		bind(ctx, "capstan-view", "viewer")
		all := remembered(ctx, func(all []pastRevision) error {
			if len(all) != 3 || all[2].Result != "Installed" || all[2].Counts["Deleted"] == 0 {
				return fmt.Errorf("it is %+v", all)
			}
			return nil
		})
		Expect([]string{all[0].Result, all[1].Result, all[2].Result}).To(Equal([]string{"Installed", "Superseded", "Installed"}))
		Expect([]string{all[0].Cause, all[1].Cause, all[2].Cause}).To(Equal([]string{"the first one that is listed", "images", "images"}))
		Expect(all[0].Counts).To(HaveKeyWithValue("Created", BeNumerically(">=", 8)))
		Expect(all[0].Ended).NotTo(BeZero())
		Expect(all[1].Applied).To(BeZero())
		Expect(all[2].Applied).To(BeTemporally(">=", all[2].Listed))
		Expect(all[2].Name).To(Equal(v.Current()))
		Expect(all[2].Release).To(Equal("4.22.0"))
		Expect(all[2].Components).To(HaveLen(1))
		viewer := as("viewer")
		Expect(viewer.run(ctx, 0, "history")).To(And(MatchRegexp(`(?m)^3 +4\.22\.0 +Installed `), MatchRegexp(`(?m)^2 +4\.22\.0 +Superseded `)))
		Expect(viewer.run(ctx, 0, "history", "2")).To(And(ContainSubstring("Cause:      images"), ContainSubstring("alpha (profile default of ")))
		Expect(viewer.run(ctx, codeFailed, "history", "9")).To(ContainSubstring("does not have revision 9; it has 1, 2, 3"))

		stored := historyMap()
		merge := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"history.json":"{}"}}`))
		Expect(userOf(ctx, "mallory").Patch(ctx, stored.DeepCopy(), merge)).To(MatchError(ContainSubstring("forbidden")))
		Expect(userOf(ctx, "anna", "pause").Delete(ctx, stored.DeepCopy())).To(MatchError(ContainSubstring("forbidden")))
	})

	It("that is lost is entered again as far as it is listed, which is told, and nothing waits for it", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		release(ctx, newProvider("alpha").with(configMap("comes", "two")))
		installed(ctx, 2)
		remembered(ctx, func(all []pastRevision) error {
			if len(all) != 2 || all[1].Result != "Installed" {
				return fmt.Errorf("it is %+v", all)
			}
			return nil
		})
		By("writing it again by itself, with all that it knew")
		Expect(env.Client.Delete(ctx, historyMap())).To(Succeed())
		Expect(remembered(ctx, func([]pastRevision) error { return nil })).To(And(HaveLen(2), HaveEach(HaveField("Listed", Not(BeZero())))))

		Expect(operator.Stop()).To(Succeed())
		Expect(env.Client.Delete(ctx, historyMap())).To(Succeed())
		operate(harness.OperatorOptions{})
		all := remembered(ctx, func(all []pastRevision) error {
			if len(all) != 1 || all[0].Number != 2 || all[0].Result != "Installed" {
				return fmt.Errorf("it is %+v", all)
			}
			return nil
		})
		Expect(all[0].Listed).To(BeZero())
		Expect(admin().run(ctx, 0, "history")).To(ContainSubstring("what came before was lost"))
		eventually(ctx, "an Event that tells of it", func(ctx context.Context) error { return announced(ctx, "HistoryLost", "before revision 2") })
	})
})

func historyMap() *corev1.ConfigMap {
	stored := &corev1.ConfigMap{}
	stored.Namespace, stored.Name = harness.OperatorNamespace, "capstan-history"
	return stored
}

// remembered waits until what the history has stored satisfies a question.
func remembered(ctx context.Context, question func([]pastRevision) error) []pastRevision {
	GinkgoHelper()
	var h struct{ Revisions []pastRevision }
	eventually(ctx, "the history to be written", func(ctx context.Context) error {
		stored := historyMap()
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
			return err
		}
		h.Revisions = nil
		if err := json.Unmarshal([]byte(stored.Data["history.json"]), &h); err != nil {
			return errors.Join(errors.New("it cannot be read"), err)
		}
		return question(h.Revisions)
	})
	return h.Revisions
}
