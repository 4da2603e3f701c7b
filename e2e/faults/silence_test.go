package faults_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// No watch is waited for without end: neither one of the engine's nor one of the manager's.
var _ = Describe("Watches that are open and tell nothing:", Label("long"), func() {
	It("after a restart the operator gives them up within half a minute, lists instead, and puts right what was edited", func(ctx SpecContext) {
		atGood(ctx)
		killAll()
		swallowed := between.Add(proxy.Rule{Verb: "watch", Fault: proxy.Swallow})
		defer swallowed.End()
		next()
		edit(ctx)
		startGood()
		Expect(harness.Eventually(ctx, "the edited object to be put right", isRight)).To(Succeed())
	}, NodeTimeout(90*time.Second))
})
