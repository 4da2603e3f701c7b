package engine_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An update of a definition", func() {
	It("case 83: is refused when it would drop a version that objects are stored in", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, w.instance("gadget", "mine"))
		moved := w.versions("gadget", map[string]any{"name": "v2", "served": true, "storage": true, "schema": specOf("size", "note")})
		report := w.refuses(ctx, e, of(2, moved, w.crd("other"), w.configMap("a")), moved)
		Expect(in(report, moved).Why).To(And(ContainSubstring("version v1"), ContainSubstring("1 instance in 1 namespace"),
			ContainSubstring("kubectl get gadgets.v1."+w.group+" -A"), Not(ContainSubstring("mine"))))
		Expect(in(report, w.crd("other")).Applied()).To(BeTrue())
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
	})

	It("is refused when it would drop a field that instances use, until they do not", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		for _, name := range []string{"a", "b", "c", "d"} {
			w.create(ctx, with(w.instance("gadget", name), "keep me", "spec", "note"))
		}
		w.create(ctx, w.instance("gadget", "plain"))
		narrow := w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": specOf("size")})
		rev := of(2, narrow)
		report := w.refuses(ctx, e, rev, narrow)
		Expect(in(report, narrow).Why).To(And(ContainSubstring("spec.note of version v1"), ContainSubstring("4 instances in 1 namespace"),
			ContainSubstring("kubectl get gadgets.v1."+w.group+" -A -o yaml"), Not(ContainSubstring(w.namespace))))
		Expect(field(w.fetch(ctx, with(w.instance("gadget", "a"), "", "spec", "note")), "spec", "note")).To(Equal("keep me"))

		since := mark(ctx)
		for range 3 {
			_, err := e.Reconcile(ctx, rev)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(w.requests(ctx, since)).To(BeEmpty(), "it is not asked again as long as nothing has changed")

		for _, name := range []string{"a", "b", "c", "d"} {
			w.merge(ctx, "other", w.instance("gadget", name), `{"spec":{"note":null}}`)
		}
		w.merge(ctx, "other", narrow, `{"metadata":{"annotations":{"seen":"true"}}}`)
		e.converge(ctx, rev)
		Expect(w.fetch(ctx, narrow).GetAnnotations()).To(HaveKeyWithValue(engine.RevisionAnnotation, "2"))
	})

	It("is refused when it would drop fields that whoever wrote the instances has named, and tells none of these names", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		text := map[string]any{"type": "string"}
		notesOf := func(notes map[string]any) map[string]any {
			return map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec": map[string]any{"type": "object", "properties": map[string]any{"notes": notes}},
			}}}
		}
		free := notesOf(map[string]any{"type": "object", "additionalProperties": text})
		gadget := w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": free})
		e.install(ctx, of(1, gadget))
		notes := map[string]any{}
		for i := range 1000 {
			notes[fmt.Sprintf("secret-%d-%s", i, strings.Repeat("x", 200))] = "keep me"
		}
		w.create(ctx, with(w.instance("gadget", "a"), notes, "spec", "notes"))
		closed := notesOf(map[string]any{"type": "object", "properties": map[string]any{"known": text}})
		narrow := w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": closed})
		report := w.refuses(ctx, e, of(2, narrow), narrow)
		Expect(in(report, narrow).Why).To(And(ContainSubstring("would take spec.notes.* of version v1 from 1 instance"), Not(ContainSubstring("secret"))))
	})

	It("is asked for again after half a minute", func(ctx SpecContext) {
		w := begin(ctx)
		clock := clocktesting.NewFakeClock(time.Now())
		e := w.start(func(c *engine.Config) { c.Clock = clock })
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, with(w.instance("gadget", "a"), "keep me", "spec", "note"))
		narrow := w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": specOf("size")})
		w.refuses(ctx, e, of(2, narrow), narrow)
		w.merge(ctx, "other", w.instance("gadget", "a"), `{"spec":{"note":null}}`)
		clock.Step(29 * time.Second)
		report, err := e.Reconcile(ctx, of(2, narrow))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Refused()).To(HaveLen(1))
		clock.Step(2 * time.Second)
		e.converge(ctx, of(2, narrow))
	})

	It("has the instances read as a whole again only when one of them has changed, or after ten minutes", func(ctx SpecContext) {
		w := begin(ctx)
		clock := clocktesting.NewFakeClock(time.Now())
		e := w.start(func(c *engine.Config) { c.Clock = clock })
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, with(w.instance("gadget", "a"), "keep me", "spec", "note"))
		narrow := w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": specOf("size")})
		w.refuses(ctx, e, of(2, narrow), narrow)
		looksAfter := func(d time.Duration) int {
			GinkgoHelper()
			since := mark(ctx)
			clock.Step(d)
			report, err := e.Reconcile(ctx, of(2, narrow))
			Expect(err).NotTo(HaveOccurred())
			Expect(report.Refused()).To(HaveLen(1))
			return len(w.looks(ctx, since))
		}
		for range 3 {
			Expect(looksAfter(31*time.Second)).To(Equal(1), "their metadata")
		}
		w.create(ctx, with(w.instance("gadget", "b"), "keep me", "spec", "note"))
		Expect(looksAfter(31*time.Second)).To(Equal(2), "their metadata, and what has changed")
		Expect(looksAfter(31 * time.Second)).To(Equal(1))
		Expect(looksAfter(10*time.Minute)).To(Equal(1), "as a whole at once")
	})

	It("has only the metadata of instances read when no field is asked for", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		for i := range 250 {
			w.create(ctx, w.instance("gadget", fmt.Sprintf("a%d", i)))
		}
		moved := w.versions("gadget", map[string]any{"name": "v2", "served": true, "storage": true, "schema": specOf("size", "note")})
		since := mark(ctx)
		report := w.refuses(ctx, e, of(2, moved), moved)
		Expect(in(report, moved).Why).To(ContainSubstring("250 instances in 1 namespace"))
		Expect(w.looks(ctx, since)).To(HaveLen(1), "a page of metadata has more than a page of whole objects")
	})

	It("is made when it drops a field that no instance uses, after one look at them", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, w.instance("gadget", "plain"))
		since := mark(ctx)
		e.converge(ctx, of(2, w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": specOf("size")})))
		Expect(w.looks(ctx, since)).To(HaveLen(1))
	})

	It("costs no look at the instances when it takes nothing away", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, with(w.instance("gadget", "a"), "keep me", "spec", "note"))
		since := mark(ctx)
		e.converge(ctx, of(2, w.crd("gadget")))
		e.converge(ctx, of(3, w.versions("gadget", map[string]any{"name": "v1", "served": true, "storage": true, "schema": specOf("size", "note", "more")})))
		Expect(w.looks(ctx, since)).To(BeEmpty())
	})

	It("is refused when it serves none of the versions in which instances can be read", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, w.instance("gadget", "mine"))
		hidden := w.versions("gadget",
			map[string]any{"name": "v1", "served": false, "storage": false, "schema": specOf("size", "note")},
			map[string]any{"name": "v2", "served": true, "storage": true, "schema": specOf("size", "note")})
		report := w.refuses(ctx, e, of(2, hidden), hidden)
		Expect(in(report, hidden).Why).To(And(ContainSubstring("versions v1"), ContainSubstring("1 instance in 1 namespace")))
	})

	It("is refused when it drops the conversion that a stored version needs", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget")))
		w.create(ctx, w.instance("gadget", "mine"))
		w.unconvertible(ctx, "gadget")
		relabelled := w.versions("gadget",
			map[string]any{"name": "v1", "served": true, "storage": false, "schema": specOf("size", "note")},
			map[string]any{"name": "v2", "served": true, "storage": true, "schema": specOf("size", "note")})
		report := w.refuses(ctx, e, of(2, relabelled), relabelled)
		Expect(in(report, relabelled).Why).To(And(ContainSubstring("drop the conversion webhook"), ContainSubstring("version v1"), ContainSubstring("nobody can count them")))
	})

	It("is refused when it would repair a definition that an administrator has given a field in use", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := of(1, w.crd("gadget"))
		e.install(ctx, rev)
		w.put(ctx, "administrator", w.crd("gadget"), func(u *unstructured.Unstructured) {
			field(u, "spec", "versions").([]any)[0].(map[string]any)["schema"] = specOf("size", "note", "mine")
		})
		used := with(w.instance("gadget", "a"), "keep me", "spec", "mine")
		eventually(ctx, "the field to be kept", func(ctx context.Context) error {
			_ = gone(w.client.Delete(ctx, used.DeepCopy()))
			w.create(ctx, used)
			return has(w.fetch(ctx, used), "keep me", "spec", "mine")
		})
		report := e.until(ctx, rev, acted(w.crd("gadget"), engine.Refused))
		Expect(in(report, w.crd("gadget")).Why).To(ContainSubstring("spec.mine"))
	})
})

// versions is the definition of crd with other versions.
func (w *world) versions(singular string, versions ...any) *unstructured.Unstructured {
	return with(w.crd(singular), versions, "spec", "versions")
}

// specOf is the schema of a version whose spec has these fields: size is a number, the others are texts.
func specOf(fields ...string) map[string]any {
	properties := map[string]any{}
	for _, name := range fields {
		properties[name] = map[string]any{"type": "string"}
		if name == "size" {
			properties[name] = map[string]any{"type": "integer"}
		}
	}
	spec := map[string]any{"type": "object", "properties": properties}
	return map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": spec}}}
}

// refuses applies a revision that must not get through, and says that nothing was sent for the definition.
func (w *world) refuses(ctx context.Context, e *running, rev *engine.Revision, crd *unstructured.Unstructured) *engine.Report {
	GinkgoHelper()
	before, since := w.fetch(ctx, crd), mark(ctx)
	report := e.until(ctx, rev, acted(crd, engine.Refused))
	Expect(report.Complete()).To(BeFalse())
	Expect(report.Err()).NotTo(HaveOccurred())
	Expect(report.Refused()).To(ConsistOf(in(report, crd)))
	Expect(report.Blocked()).To(ContainSubstring(crd.GetName()))
	Expect(w.fetch(ctx, crd)).To(Equal(before))
	Expect(about(crd, w.requests(ctx, since))).To(BeEmpty())
	return report
}

// looks are the lists of instances that the world's engines have asked for.
func (w *world) looks(ctx context.Context, since cluster.Mark) cluster.RequestList {
	GinkgoHelper()
	return w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.Verb == "list" && r.APIGroup == w.group })
}
