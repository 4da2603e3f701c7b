package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A workload that somebody has stopped", func() {
	It("keeps the gate closed while it is scaled to zero, and names who did it", func(ctx SpecContext) {
		w := begin(ctx)
		deployment, later := without(w.deployment("manager"), "spec", "replicas"), w.webhook("hook")
		e := w.start()
		e.converge(ctx, of(1, deployment))
		w.merge(ctx, "somebody", deployment, `{"spec":{"replicas":0}}`)
		rev := of(2, deployment, later)
		report := e.until(ctx, rev, probing(deployment, engine.AnswerFalse))
		Expect(report.Blocked()).To(ContainSubstring("scaled to zero by field manager somebody"))
		Expect(w.isGone(ctx, later)).To(Succeed())
		w.merge(ctx, "somebody", deployment, `{"spec":{"replicas":1}}`)
		e.converge(ctx, rev)
	})

	It("is named while it is paused and has to be rolled out", func(ctx SpecContext) {
		w := begin(ctx)
		deployment := w.deployment("manager")
		e := w.start()
		e.converge(ctx, of(1, deployment))
		w.merge(ctx, "somebody", deployment, `{"spec":{"paused":true}}`)
		e.converge(ctx, of(1, deployment))
		rev := of(2, atVersion(deployment, "v2"))
		report := e.until(ctx, rev, probing(deployment, engine.AnswerFalse))
		Expect(report.Blocked()).To(And(ContainSubstring("paused by field manager somebody"), ContainSubstring("0/1 replicas updated")))
		w.merge(ctx, "somebody", deployment, `{"spec":{"paused":false}}`)
		e.converge(ctx, rev)
	})

	It("is no Job that the API server removes when it is done, which would run again and again", func(ctx SpecContext) {
		w := begin(ctx)
		job := w.object(`
apiVersion: batch/v1
kind: Job
metadata: {namespace: $NS, name: once}
spec:
  ttlSecondsAfterFinished: 0
  template: {spec: {restartPolicy: Never, containers: [{name: once, image: "image:v1"}]}}
`)
		e := w.start()
		e.until(ctx, of(1, job), acted(job, engine.Created))
		_, found, _ := unstructured.NestedFieldNoCopy(w.fetch(ctx, job).Object, "spec", "ttlSecondsAfterFinished")
		Expect(found).To(BeFalse())
	})
})
