package clusterapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The flight recorder", func() {
	It("writes at most every ten seconds, and begins anew when its file is damaged", func(ctx SpecContext) {
		bait := configMap("alpha", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		since := mark(ctx)
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		recorded(ctx, func(stored *corev1.ConfigMap) error {
			if got := replayed(ctx, stored); got != 4 {
				return fmt.Errorf("%d decisions are recorded", got)
			}
			return nil
		})

		damaged := &corev1.ConfigMap{}
		damaged.Namespace, damaged.Name = harness.OperatorNamespace, "capstan-recorder"
		Expect(env.Client.Patch(ctx, damaged, client.RawPatch("application/merge-patch+json",
			[]byte(`{"binaryData":{"entries.jsonl.gz":"bm9uc2Vuc2U="}}`)), administrator)).To(Succeed())
		patch(ctx, bait, `{"data":{"setting":"edited"}}`)
		recorded(ctx, func(stored *corev1.ConfigMap) error {
			if stored.Data["entries"] != "1" {
				return errors.New("it has " + stored.Data["entries"] + " entries, want that of the edit alone")
			}
			return nil
		})

		all, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		var last time.Time
		for _, write := range all.By(harness.UserAgent).Writes().Where(func(r cluster.Request) bool { return r.Name == damaged.Name && r.Code < 300 }) {
			if !last.IsZero() {
				Expect(write.Time.Sub(last)).To(BeNumerically(">", 9*time.Second), write.String())
			}
			last = write.Time
		}
		Expect(last).NotTo(BeZero())
	})
})

// recorded waits until what the recorder has stored satisfies a question.
func recorded(ctx context.Context, question func(*corev1.ConfigMap) error) {
	GinkgoHelper()
	eventually(ctx, "the flight recorder to be written", func(ctx context.Context) error {
		stored := &corev1.ConfigMap{}
		if err := env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-recorder"}, stored); err != nil {
			return err
		}
		return question(stored)
	})
}

// replayed is how many decisions are recorded; each must be taken again as it was.
func replayed(ctx context.Context, stored *corev1.ConfigMap) int {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "entries.jsonl.gz")
	Expect(os.WriteFile(file, stored.BinaryData["entries.jsonl.gz"], 0o600)).To(Succeed())
	var result struct{ Decisions int }
	Expect(json.Unmarshal([]byte(command{}.run(ctx, 0, "replay", file, "-o", "json")), &result)).To(Succeed())
	return result.Decisions
}
