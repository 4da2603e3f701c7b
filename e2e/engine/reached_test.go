package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A wave", func() {
	It("is not reached by a number that somebody has written by hand", func(ctx SpecContext) {
		w := begin(ctx)
		hook, deployment := w.webhook("hook"), w.deployment("manager")
		e := w.start()
		e.converge(ctx, of(1, hook, deployment))
		e.stop()
		w.merge(ctx, "administrator", hook, `{"metadata":{"annotations":{"`+engine.RevisionAnnotation+`":"99"}}}`)

		release := w.hold(ctx, "manager", "v2")
		e = w.start()
		rev := of(2, hook, atVersion(deployment, "v2"))
		e.until(ctx, rev, probing(deployment, engine.AnswerFalse))
		Expect(number(w.fetch(ctx, hook))).To(Equal("99"), "the webhook comes after the Deployment")
		release()
		e.converge(ctx, rev)
		Expect(number(w.fetch(ctx, hook))).To(Equal("2"))
	})
})
