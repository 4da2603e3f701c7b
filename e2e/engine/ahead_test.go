package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The wave after the one that is waited for", func() {
	trial := func(r cluster.Request) bool { return r.DryRun }

	It("case 42: is tried meanwhile, once and without effect, and not again when its turn comes", func(ctx SpecContext) {
		w := begin(ctx)
		release := w.hold(ctx, "manager", "")
		rev := revision(1, component("core", w.deployment("manager")), component("later", w.configMap("a"), w.configMap("b")), component("last", w.configMap("c"), w.configMap("d")))
		e, since := w.start(), mark(ctx)
		e.until(ctx, rev, func(*engine.Report) error { return counts(w.requests(ctx, since).Where(trial), 2) })
		e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		tried := w.requests(ctx, since).Where(trial)
		Expect(tried).To(HaveLen(2), tried.String())
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
		release()
		e.converge(ctx, rev)
		tried = w.requests(ctx, since).Where(trial)
		Expect(tried).To(HaveLen(4), tried.String())
	})

	It("case 42: is not reported for what is refused ahead of its turn, and is then not written at all", func(ctx SpecContext) {
		w := begin(ctx)
		release := w.hold(ctx, "manager", "")
		bad := with(w.configMap("bad"), "no such field", "nonsense")
		rev := revision(1, component("core", w.deployment("manager")), component("later", w.configMap("a"), bad))
		e, since := w.start(), mark(ctx)
		e.until(ctx, rev, func(report *engine.Report) error {
			Expect(in(report, bad).Err).NotTo(HaveOccurred())
			return counts(w.requests(ctx, since).Where(trial), 2)
		})
		release()
		e.until(ctx, rev, func(report *engine.Report) error {
			if in(report, bad).Err == nil {
				return counts(w.requests(ctx, since).Where(trial), 3)
			}
			return nil
		})
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
	})

	It("case 42: is left alone while webhooks are waited for, which may have a say in it", func(ctx SpecContext) {
		w := begin(ctx)
		hook := annotated(w.webhook("hook"), "cert-manager.io/inject-ca-from", "nobody/here")
		rev := revision(1, component("core", hook), component("later", w.configMap("a"), w.configMap("b")))
		e, since := w.start(), mark(ctx)
		for range 3 { // passes
			e.until(ctx, rev, probing(hook, engine.AnswerUnknown))
		}
		tried := w.requests(ctx, since).Where(trial)
		Expect(tried).To(BeEmpty(), tried.String())
		w.put(ctx, "cert-manager", w.fetch(ctx, hook), func(o *unstructured.Unstructured) {
			for _, each := range o.Object["webhooks"].([]any) {
				Expect(unstructured.SetNestedField(each.(map[string]any), "eA==", "clientConfig", "caBundle")).To(Succeed())
			}
		})
		e.converge(ctx, rev)
		tried = w.requests(ctx, since).Where(trial)
		Expect(tried).To(HaveLen(2), tried.String())
	})
})

// counts is nil when there are so many requests.
func counts(requests cluster.RequestList, want int) error {
	if len(requests) != want {
		return fmt.Errorf("%d requests, want %d: %s", len(requests), want, requests)
	}
	return nil
}
