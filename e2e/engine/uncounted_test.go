package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A definition that cannot be asked for its instances", func() {
	It("is retained when none of its versions is served", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.crd("hidden"))
		w.create(ctx, w.instance("hidden", "mine"))
		w.put(ctx, "other", w.crd("hidden"), func(u *unstructured.Unstructured) {
			field(u, "spec", "versions").([]any)[0].(map[string]any)["served"] = false
		})
		eventually(ctx, "the report to say why", func(ctx context.Context) error {
			report, err := e.Teardown(ctx, rev)
			if err != nil || len(report.Retained) != 1 || !strings.Contains(report.WhyRetained(), "none of its versions is served") {
				return fmt.Errorf("%s, %w", report.WhyRetained(), err)
			}
			return nil
		})
	})

	It("is retained when there are instances that its webhook does not convert", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.crd("hidden"))
		w.create(ctx, w.instance("hidden", "mine"))
		w.unconvertible(ctx, "hidden")
		definition := w.crd("hidden")
		consented := e.consenting(ctx, definition)
		Expect(consented[engine.KeyOf(definition).Identity()].Digest).To(BeEmpty())
		for _, given := range []map[engine.Key]engine.Consent{nil, consented} {
			report := e.prune(ctx, rev, given)
			Expect(report.Retained).To(HaveLen(1))
			Expect(report.WhyRetained()).To(ContainSubstring("cannot be read"))
		}
	})

	It("is deleted when its names were never accepted, so that it never had any", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, with(w.crd("gizmo"), []any{"gx"}, "spec", "names", "shortNames"))
		eventually(ctx, "the short name to be taken", func(ctx context.Context) error {
			return has(w.fetch(ctx, w.crd("gizmo")), []any{"gx"}, "status", "acceptedNames", "shortNames")
		})
		greedy := with(w.crd("gadget"), []any{"gx"}, "spec", "names", "shortNames")
		e := w.start()
		e.until(ctx, of(1, greedy, w.configMap("a")), probing(greedy, engine.AnswerFalse))
		Expect(e.install(ctx, of(2, w.configMap("a"))).Gone).To(HaveLen(1))
	})
})

// unconvertible gives a definition with instances a version to store them in for which nobody converts them, and waits
// until the API server asks everybody who selects among them to come back later, or leaves them waiting.
func (w *world) unconvertible(ctx context.Context, singular string) {
	GinkgoHelper()
	w.put(ctx, "other", w.crd(singular), func(u *unstructured.Unstructured) {
		first := field(u, "spec", "versions").([]any)[0].(map[string]any)
		second := map[string]any{"name": "v2", "served": true, "storage": true, "schema": first["schema"]}
		first["storage"] = false
		Expect(unstructured.SetNestedSlice(u.Object, []any{first, second}, "spec", "versions")).To(Succeed())
		Expect(unstructured.SetNestedMap(u.Object, map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"service": map[string]any{"namespace": w.namespace, "name": "nobody"}},
		}}, "spec", "conversion")).To(Succeed())
	})
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: w.group, Version: "v2", Kind: kindOf(singular) + "List"})
	selected := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, patience/10) // one that meets the change may never be answered
		defer cancel()
		return w.client.List(ctx, list, client.HasLabels{"any"})
	}
	eventually(ctx, "the definition to be broken", func(ctx context.Context) error {
		if err := selected(ctx); !apierrors.IsTooManyRequests(err) && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("listing: %w", err)
		}
		return nil
	})
	DeferCleanup(func(ctx SpecContext) { // or no namespace of any world can be deleted
		w.put(ctx, "other", w.crd(singular), func(u *unstructured.Unstructured) {
			unstructured.RemoveNestedField(u.Object, "spec", "conversion")
		})
		eventually(ctx, "the definition to be repaired", selected)
	}, NodeTimeout(patience))
}
