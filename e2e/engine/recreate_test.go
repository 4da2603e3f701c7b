package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A field that cannot be changed", func() {
	It("case 84: is a terminal error that names it, and makes a new object when the manifest lets it", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		first, selecting := w.deployment("a"), selectsMore(w.deployment("a"))
		e.converge(ctx, of(1, first))
		before := w.uid(ctx, first)
		report := e.until(ctx, of(2, selecting), acted(selecting, engine.Failed))
		Expect(terminal(report.Err())).To(BeTrue())
		Expect(report.Err().Error()).To(And(ContainSubstring("Deployment "+w.namespace+"/a"), ContainSubstring("spec.selector"), ContainSubstring(engine.ImmutableAnnotation)))
		Expect(w.uid(ctx, first)).To(Equal(before))

		since := mark(ctx)
		wanted := recreated(selecting)
		rev := of(3, wanted)
		e.converge(ctx, rev)
		after := w.uid(ctx, wanted)
		Expect(after).NotTo(Equal(before))
		Expect(successful(about(wanted, w.writes(ctx, since))).Where(isDelete)).To(HaveLen(1))
		e.converge(ctx, rev)
		Expect(w.uid(ctx, wanted)).To(Equal(after))
	})

	It("makes one new object although the older revision is kept at the same time", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		older, newer := of(1, w.deployment("a")), of(2, recreated(selectsMore(w.deployment("a"))))
		e.converge(ctx, older)
		e.Watch(older, newer)
		since := mark(ctx)
		w.both(ctx, e, older, newer)
		Expect(verbs(about(w.deployment("a"), successful(w.writes(ctx, since))).Where(isMaking))).To(Equal([]string{"delete", "patch"}))
	})

	It("makes one new object although the engine dies between the two steps", func(ctx SpecContext) {
		w := begin(ctx)
		older, newer := of(1, w.deployment("a")), of(2, recreated(selectsMore(w.deployment("a"))))
		e := w.start()
		e.converge(ctx, older)
		since := mark(ctx)
		e.until(ctx, newer, acted(w.deployment("a"), engine.Terminating))
		e.stop()
		eventually(ctx, "the deletion", func(ctx context.Context) error { return w.isGone(ctx, w.deployment("a")) })
		e = w.start()
		e.Watch(older, newer)
		w.both(ctx, e, older, newer)
		Expect(verbs(about(w.deployment("a"), successful(w.writes(ctx, since))).Where(isMaking))).To(Equal([]string{"delete", "patch"}))
	})

	It("does not delete what could not be created again", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.deployment("a")))
		wrong := with(recreated(selectsMore(w.deployment("a"))), int64(-1), "spec", "replicas")
		report := e.until(ctx, of(2, wrong), acted(wrong, engine.Failed))
		Expect(report.Err().Error()).To(ContainSubstring("spec.replicas"))
		Expect(w.uid(ctx, wrong)).NotTo(BeEmpty())
	})

	It("does not delete what a policy would not let it create again", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		first, wanted := w.deployment("a"), recreated(selectsMore(w.deployment("a")))
		e.converge(ctx, of(1, first))
		before := w.uid(ctx, first)
		lift := w.deny(ctx, "apps/deployments", "CREATE", "size(object.spec.selector.matchLabels) < 2", wanted)
		since := mark(ctx)
		report := e.until(ctx, of(2, wanted), acted(wanted, engine.Failed))
		Expect(report.Err().Error()).To(And(ContainSubstring("nobody may have it"), ContainSubstring("spec.selector")))
		Expect(terminal(report.Err())).To(BeFalse(), "the policy may change its mind")
		Expect(w.uid(ctx, first)).To(Equal(before))
		Expect(w.requests(ctx, since).Where(isDelete)).To(BeEmpty())

		lift()
		e.converge(ctx, of(2, wanted))
		Expect(w.uid(ctx, first)).NotTo(Equal(before))
	})

	It("does not delete what a policy would not let it create again under its name", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		first, wanted := w.deployment("a"), recreated(selectsMore(w.deployment("a")))
		e.converge(ctx, of(1, first))
		before := w.uid(ctx, first)
		w.deny(ctx, "apps/deployments", "CREATE", "object.metadata.name != 'a'", wanted)
		since := mark(ctx)
		e.until(ctx, of(2, wanted), acted(wanted, engine.Failed))
		Expect(w.uid(ctx, first)).To(Equal(before))
		Expect(w.requests(ctx, since).Where(isDelete)).To(BeEmpty())
	})

	It("makes a new object where a policy lets nothing have another name", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		first, wanted := w.deployment("a"), recreated(selectsMore(w.deployment("a")))
		e.converge(ctx, of(1, first))
		before := w.uid(ctx, first)
		w.deny(ctx, "apps/deployments", "CREATE", "object.metadata.name == 'a'", w.deployment("b"))
		e.converge(ctx, of(2, wanted))
		Expect(w.uid(ctx, first)).NotTo(Equal(before))
	})

	It("makes a new object where a quota has room for the old one only", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		first, wanted := w.deployment("a"), recreated(selectsMore(w.deployment("a")))
		e.converge(ctx, of(1, first))
		before := w.uid(ctx, first)
		quota := w.create(ctx, w.object(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: full, namespace: $NS}, spec: {hard: {count/deployments.apps: "1"}}}`))
		eventually(ctx, "the quota to be full", func(ctx context.Context) error {
			return has(w.fetch(ctx, quota), map[string]any{"count/deployments.apps": "1"}, "status", "used")
		})
		e.converge(ctx, of(2, wanted))
		Expect(w.uid(ctx, first)).NotTo(Equal(before))
	})

	It("does not delete what a quota would not let it create again", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		first, wanted := w.deployment("a"), recreated(selectsMore(w.deployment("a")))
		e.converge(ctx, of(1, first))
		before := w.uid(ctx, first)
		quota := w.create(ctx, w.object(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: none, namespace: $NS}, spec: {hard: {count/deployments.apps: "0"}}}`))
		eventually(ctx, "the quota to be exceeded", func(ctx context.Context) error {
			return has(w.fetch(ctx, quota), map[string]any{"count/deployments.apps": "1"}, "status", "used")
		})
		since := mark(ctx)
		report := e.until(ctx, of(2, wanted), acted(wanted, engine.Failed))
		Expect(report.Err().Error()).To(And(ContainSubstring("exceeded quota: none"), ContainSubstring("spec.selector")))
		Expect(terminal(report.Err())).To(BeFalse(), "the quota may be raised")
		Expect(w.uid(ctx, first)).To(Equal(before))
		Expect(w.requests(ctx, since).Where(isDelete)).To(BeEmpty())
	})

	It("makes a new object also where no other name would do", func(ctx SpecContext) {
		w := begin(ctx)
		crd := w.crd("gadget")
		schema := field(crd, "spec", "versions").([]any)[0].(map[string]any)["schema"].(map[string]any)
		rule := func(expression, message string) []any {
			return []any{map[string]any{"rule": expression, "message": message}}
		}
		Expect(unstructured.SetNestedField(schema, rule("self.metadata.name == 'only'", "its name must be only"),
			"openAPIV3Schema", "x-kubernetes-validations")).To(Succeed())
		Expect(unstructured.SetNestedField(schema, rule("self == oldSelf", "is immutable"),
			"openAPIV3Schema", "properties", "spec", "properties", "size", "x-kubernetes-validations")).To(Succeed())
		only := w.instance("gadget", "only")
		e := w.start()
		e.converge(ctx, of(1, crd, only))
		before := w.uid(ctx, only)
		e.converge(ctx, of(2, crd, recreated(with(only, int64(2), "spec", "size"))))
		Expect(w.uid(ctx, only)).NotTo(Equal(before))
	})

	It("is never the end of a definition or a namespace", func(ctx SpecContext) {
		w := begin(ctx)
		_, err := w.start().apply(ctx, of(1, recreated(w.crd("gadget")), recreated(w.newNamespace("a"))))
		Expect(terminal(err)).To(BeTrue())
		Expect(strings.Count(err.Error(), engine.ImmutableAnnotation)).To(Equal(2))
	})
})

// both keeps an older revision and applies a newer one, in turn as the operator does, until the newer one is complete.
func (w *world) both(ctx context.Context, e *running, older, newer *engine.Revision) {
	GinkgoHelper()
	Expect(e.drive(ctx, "the newer revision", func(ctx context.Context) (bool, error) {
		_, kept := e.Reconcile(ctx, older, engine.Keep())
		report, err := e.Reconcile(ctx, newer)
		if !report.Complete() {
			return true, fmt.Errorf("%s", report)
		}
		return false, errors.Join(kept, err)
	})).To(Succeed())
}

func recreated(o *unstructured.Unstructured) *unstructured.Unstructured {
	return annotated(o, engine.ImmutableAnnotation, "recreate")
}

// selectsMore is a copy of a Deployment that selects its pods by one label more.
func selectsMore(deployment *unstructured.Unstructured) *unstructured.Unstructured {
	return with(deployment, "v1", "spec", "selector", "matchLabels", "version")
}

func isDelete(r cluster.Request) bool { return r.Verb == "delete" }

func isMaking(r cluster.Request) bool { return isDelete(r) || r.IsCreation() }
