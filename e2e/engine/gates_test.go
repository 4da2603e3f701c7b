package engine_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"

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
		rev := of(1, greedy, w.deployment("manager"), w.webhook("hook"))
		e := w.start()
		e.until(ctx, rev, probing(greedy, engine.AnswerFalse))
		Expect(w.isGone(ctx, w.deployment("manager"))).To(Succeed())
		w.delete(ctx, blocking)
		e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		Expect(w.isGone(ctx, w.webhook("hook"))).To(Succeed())
		release()
		e.converge(ctx, rev)
	})

	It("case 82: lets a webhook configuration in only when its Deployment is available, and it goes first", func(ctx SpecContext) {
		w := begin(ctx)
		hook, deployment := w.webhookBehind("manager", "hook"), w.deployment("manager")
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

var _ = Describe("The gate of a webhook configuration", func() {
	It("stays closed until the Service that it is behind has an endpoint that is ready", func(ctx SpecContext) {
		w := begin(ctx)
		hook, service := w.webhookBehind("manager", "hook"), w.service("manager")
		rev := revision(1, component("core", w.deployment("manager"), hook), component("later", w.configMap("a")))
		e, since := w.start(), mark(ctx)
		report := e.until(ctx, rev, probing(hook, engine.AnswerFalse))
		Expect(report.Blocked()).To(ContainSubstring("Service " + w.namespace + "/manager, which its webhooks are behind, has no endpoint that is ready"))
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
		w.create(ctx, service)
		e.converge(ctx, rev)

		w.merge(ctx, "somebody", service, `{"spec":{"selector":{"app":"nobody"}}}`)
		e.until(ctx, rev, probing(hook, engine.AnswerFalse))
		w.merge(ctx, "somebody", service, fmt.Sprintf(`{"spec":{"selector":{"app":%q}}}`, w.name("manager")))
		e.converge(ctx, rev)
		next := revision(2, component("core", w.deployment("manager"), hook), component("later", w.configMap("b")))
		e.converge(ctx, next)
		Expect(w.requests(ctx, since).Where(ofEndpoints)).To(HaveLen(1), "one watch, which the next revision needs as well")
	})

	It("stays closed while the endpoints may not be watched, and says so", func(ctx SpecContext) {
		w := begin(ctx)
		hook := w.webhookBehind("manager", "hook")
		rev := of(1, w.service("manager"), w.deployment("manager"), hook)
		var allowed atomic.Bool
		e := w.start(meddle(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
			if allowed.Load() || !strings.HasSuffix(r.URL.Path, "/endpointslices") {
				return nil, nil
			}
			return answered(r, http.StatusForbidden, refusing(http.StatusForbidden, "Forbidden")), nil
		}))
		e.until(ctx, rev, func(report *engine.Report) error {
			if !strings.Contains(report.Blocked(), "the endpoints of Service "+w.namespace+"/manager cannot be watched: this is refused") {
				return errors.New(report.Blocked())
			}
			return probing(hook, engine.AnswerUnknown)(report)
		})
		allowed.Store(true)
		e.converge(ctx, rev)
	})

	It("wants a CA bundle also where nobody was asked for one, and looks at no endpoints of a webhook with a URL", func(ctx SpecContext) {
		w := begin(ctx)
		since := mark(ctx)
		w.start().converge(ctx, of(1, w.webhook("elsewhere")))
		Expect(w.requests(ctx, since).Where(ofEndpoints)).To(BeEmpty())

		hook := without(w.webhookBehind("manager", "hook"), "metadata", "annotations")
		e, rev := w.start(), of(2, w.service("manager"), w.deployment("manager"), hook)
		report := e.until(ctx, rev, probing(hook, engine.AnswerUnknown))
		Expect(report.Blocked()).To(ContainSubstring("has no CA bundle, without which the API server cannot call Service " + w.namespace + "/manager"))
		w.put(ctx, "somebody", hook, func(o *unstructured.Unstructured) {
			hooks := field(o, "webhooks").([]any)
			hooks[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = base64.StdEncoding.EncodeToString(w.config.CAData)
		})
		e.converge(ctx, rev)
	})
})

func ofEndpoints(r cluster.Request) bool { return r.Resource == "endpointslices" }

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
