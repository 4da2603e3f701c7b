package faults_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// An API server forgets when its etcd is restored from a backup: resourceVersions go back, and no watch says so.
var _ = Describe("An etcd that is restored from a backup", Label("long"), func() {
	It("is believed by the operator that runs: what is asked for now is installed, told and kept", func(ctx SpecContext) {
		atGood(ctx)
		at = nil
		// Not through the proxy: whose connection is refused goes on with its watch where it was, and lists nothing.
		operator().Kill()
		direct, err := env.StartOperator(harness.OperatorOptions{CacheDir: cacheDir})
		Expect(err).NotTo(HaveOccurred())
		started = append(started, direct)
		eventually(ctx, "the operator to work", works(direct))
		snapshot, err := env.Cluster.Snapshot()
		Expect(err).NotTo(HaveOccurred())
		By("making an upgrade, and many more writes, that will be forgotten")
		Expect(env.SetImages(ctx, images(two))).To(Succeed())
		until(ctx, "the upgrade to be installed", harness.Settled(2), finished)
		for range 5 * targets {
			next()
			patch(ctx, configMap(target), `{"metadata":{"annotations":{"test.capstan.io/edit":"`+fmt.Sprint(edits)+`"}}}`)
		}
		Expect(env.Cluster.Restore(ctx, snapshot)).To(Succeed())
		restored, err := harness.See(ctx, env.Client)
		Expect(err).NotTo(HaveOccurred())
		Expect(restored.Revisions()).To(HaveLen(1))
		Expect(restored.Revisions()[0].Revision).To(Equal(int64(1)), "the upgrade is not forgotten")

		next()
		edit(ctx)
		remove(ctx, configMap("kept"))
		soon, cancel := context.WithTimeout(ctx, 100*time.Second) // a watch takes half a minute to come back, an own write counts for a minute
		defer cancel()
		Expect(harness.Eventually(soon, "the edited object to be put right", isRight)).To(Succeed())
		Expect(harness.Eventually(soon, "the removed object to come back", func(ctx context.Context) error {
			return exists(ctx, configMap("kept"), "")
		})).To(Succeed())
		_, err = env.Until(soon, "what is asked for to be installed and told", all(harness.Settled(1), finished))
		Expect(err).NotTo(HaveOccurred())

		By("making the upgrade once more")
		Expect(env.SetImages(ctx, images(two))).To(Succeed())
		_, err = env.Until(soon, "the upgrade to be installed once more", all(harness.Settled(2), finished))
		Expect(err).NotTo(HaveOccurred())
	}, NodeTimeout(4*time.Minute))
})
