package faults_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

var _ = Describe("A first list that does not come to its end", Label("long"), func() {
	It("is told, by the kind and how often it was begun", func(ctx SpecContext) {
		atGood(ctx)
		at = nil
		operator().Kill()
		streams := between.Add(proxy.Rule{Verb: "watch", Resource: "clusterroles", Fault: proxy.Swallow})
		defer streams.End()
		lists := between.Add(proxy.Rule{Verb: "list", Resource: "clusterroles", Fault: proxy.Swallow})
		defer lists.End()
		startGood()
		ctxTold, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err := env.Until(ctxTold, "it to be told", tellsAnywhere("watching clusterroles: the list did not come to its end, and was begun anew: tries 2"))
		Expect(err).NotTo(HaveOccurred())
		streams.End()
		lists.End()
		_, err = env.Until(ctx, "all to be well", all(harness.Settled(1), finished))
		Expect(err).NotTo(HaveOccurred())
	}, NodeTimeout(3*time.Minute))
})

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
