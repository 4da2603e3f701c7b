package faults_test

import (
	"context"
	"fmt"
	"syscall"
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
		first := contentOf(ctx)
		snapshot, err := env.Cluster.Snapshot()
		Expect(err).NotTo(HaveOccurred())
		By("making an upgrade, and many more writes, that will be forgotten")
		Expect(env.SetImages(ctx, images(two))).To(Succeed())
		until(ctx, "the upgrade to be installed", harness.Settled(2), finished)
		second := contentOf(ctx)
		for range 20 * targets {
			next()
			patch(ctx, configMap(target), `{"metadata":{"annotations":{"test.cluster.x-k8s.io/edit":"`+fmt.Sprint(edits)+`"}}}`)
		}
		// It finds an API server that answers, as behind a load balancer: an error would have it list anew by itself.
		Expect(syscall.Kill(operator().PID(), syscall.SIGSTOP)).To(Succeed())
		Expect(env.Cluster.Restore(ctx, snapshot)).To(Succeed())
		between.CutWatches("")
		Expect(syscall.Kill(operator().PID(), syscall.SIGCONT)).To(Succeed())

		next()
		edit(ctx)
		remove(ctx, configMap("kept"))
		soon, cancel := context.WithTimeout(ctx, 100*time.Second) // a watch takes half a minute to come back, an own write counts for a minute
		defer cancel()
		Expect(harness.Eventually(soon, "the edited object to be put right", isRight)).To(Succeed())
		Expect(harness.Eventually(soon, "the removed object to come back", func(ctx context.Context) error {
			return exists(ctx, configMap("kept"), "")
		})).To(Succeed())
		_, err = env.Until(soon, "what is asked for to be installed and told", all(harness.Settled(1), hasContent(first), finished))
		Expect(err).NotTo(HaveOccurred())

		By("making the upgrade once more")
		Expect(env.SetImages(ctx, images(two))).To(Succeed())
		_, err = env.Until(soon, "the upgrade to be installed once more", all(harness.Settled(2), hasContent(second), finished))
		Expect(err).NotTo(HaveOccurred())
	}, NodeTimeout(4*time.Minute))
})

// contentOf is the content of the current revision.
func contentOf(ctx context.Context) string {
	GinkgoHelper()
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	return v.Revision(v.Current()).ContentID
}

// hasContent asks whether the current revision has a content.
func hasContent(id string) func(harness.View) error {
	return func(v harness.View) error {
		if current := v.Revision(v.Current()); current == nil || current.ContentID != id {
			return fmt.Errorf("the current revision is %s", v.Current())
		}
		return nil
	}
}
