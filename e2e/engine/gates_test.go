package engine_test

import (
	"context"
	"fmt"
	"reflect"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A gate", func() {
	It("case 68: stays closed while a condition speaks of an older generation", func(ctx SpecContext) {
		w := begin(ctx)
		one := w.crd("gadget")
		two := with(one, []any{"gx"}, "spec", "names", "shortNames")
		e := w.start()
		e.converge(ctx, of(1, one))
		w.observed(ctx, one, 1)
		rev := revision(2, component("core", two), component("later", w.configMap("a")))
		report := e.until(ctx, rev, probing(two, engine.AnswerUnknown))
		Expect(in(report, two).Probe.Message).To(ContainSubstring("outdated"))
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
		w.observed(ctx, two, 2)
		e.converge(ctx, rev)
		Expect(w.uid(ctx, w.configMap("a"))).NotTo(BeEmpty())
	})

	It("case 69: stays closed after the image of a Deployment changed, until the new pods are available", func(ctx SpecContext) {
		w := begin(ctx)
		one, two := w.deployment("manager"), atVersion(w.deployment("manager"), "v2")
		e := w.start()
		e.converge(ctx, of(1, one))
		release := w.hold(ctx, "manager", "v2")
		rev := revision(2, component("core", two), component("later", w.configMap("a")))
		e.until(ctx, rev, probing(two, engine.AnswerFalse))
		found := w.fetch(ctx, two)
		Expect(conditionOf(found, "Available")).To(HaveKeyWithValue("status", "True"))
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
		release()
		e.converge(ctx, rev)
		Expect(w.uid(ctx, w.configMap("a"))).NotTo(BeEmpty())
	})

	It("case 70: stays closed for a definition that is established but whose names are not accepted", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.crd("gadget")))
		w.create(ctx, with(w.crd("gizmo"), []any{"gx"}, "spec", "names", "shortNames"))
		eventually(ctx, "the short name to be taken", func(ctx context.Context) error {
			return has(w.fetch(ctx, w.crd("gizmo")), []any{"gx"}, "status", "acceptedNames", "shortNames")
		})
		greedy := with(w.crd("gadget"), []any{"gx"}, "spec", "names", "shortNames")
		rev := revision(2, component("core", greedy), component("later", w.configMap("a")))
		report := e.until(ctx, rev, probing(greedy, engine.AnswerFalse))
		Expect(report.Blocked()).To(ContainSubstring("NamesAccepted"))
		found := w.fetch(ctx, greedy)
		Expect(conditionOf(found, "Established")).To(HaveKeyWithValue("status", "True"))
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
	})

	It("case 73: is there for definitions and for Deployments of one revision", func(ctx SpecContext) {
		w := begin(ctx)
		blocking := w.create(ctx, w.crd("gadget"))
		greedy := with(w.crd("gizmo"), "Gadget", "spec", "names", "kind")
		release := w.hold(ctx, "manager", "")
		rev := of(1, greedy, w.deployment("manager"), w.webhook("hook", "manager"))
		e := w.start()
		e.until(ctx, rev, probing(greedy, engine.AnswerFalse))
		Expect(w.isGone(ctx, w.deployment("manager"))).To(Succeed())
		w.delete(ctx, blocking)
		e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		Expect(w.isGone(ctx, w.webhook("hook", "manager"))).To(Succeed())
		release()
		e.converge(ctx, rev)
	})

	It("case 82: lets a webhook configuration in only when its Deployment is available, and it goes first", func(ctx SpecContext) {
		w := begin(ctx)
		hook, deployment := w.webhook("hook", "manager"), w.deployment("manager")
		release := w.hold(ctx, "manager", "")
		e, rev := w.start(), of(1, hook, w.service("manager"), deployment)
		e.until(ctx, rev, probing(deployment, engine.AnswerFalse))
		Expect(w.isGone(ctx, hook)).To(Succeed())
		release()
		e.converge(ctx, rev)
		before := w.uid(ctx, hook)

		// On upgrade the old one stays until the new pods are there.
		release = w.hold(ctx, "manager", "v2")
		next := of(2, with(hook, []any{}, "metadata", "finalizers"), w.service("manager"), atVersion(deployment, "v2"))
		e.until(ctx, next, probing(deployment, engine.AnswerFalse))
		Expect(number(w.fetch(ctx, hook))).To(Equal("1"))
		release()
		e.converge(ctx, next)
		Expect(w.uid(ctx, hook)).To(Equal(before))

		since := mark(ctx)
		e.install(ctx, revision(3))
		deleted := w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.Verb == "delete" })
		Expect(deleted[0].Name).To(Equal(hook.GetName()), deleted.String())
	})
})

// observed says of all conditions of a definition of which generation they speak. The API server's own controllers
// leave that open.
func (w *world) observed(ctx context.Context, crd *unstructured.Unstructured, generation int64) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		found := w.fetch(ctx, crd)
		Expect(found.GetGeneration()).To(Equal(generation))
		for _, entry := range field(found, "status", "conditions").([]any) {
			entry.(map[string]any)["observedGeneration"] = generation
		}
		return w.client.Status().Update(ctx, found)
	})).To(Succeed())
}

// conditionOf is a condition of an object's status, nil if it is not there.
func conditionOf(o *unstructured.Unstructured, kind string) map[string]any {
	list, _ := field(o, "status", "conditions").([]any)
	for _, entry := range list {
		if c, _ := entry.(map[string]any); c["type"] == kind {
			return c
		}
	}
	return nil
}

// has says nil when an object has a value at a path.
func has(o *unstructured.Unstructured, want any, path ...string) error {
	if found := field(o, path...); !reflect.DeepEqual(found, want) {
		return fmt.Errorf("%v of %s is %v, not %v", path, engine.KeyOf(o), found, want)
	}
	return nil
}
