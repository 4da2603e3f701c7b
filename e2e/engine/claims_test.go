package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

const adopt = engine.AdoptAnnotation

// modes are the three collision modes, as a manifest says them.
var modes = map[string]func(*unstructured.Unstructured) *unstructured.Unstructured{
	"Prevent":        func(o *unstructured.Unstructured) *unstructured.Unstructured { return o },
	"IfNoController": func(o *unstructured.Unstructured) *unstructured.Unstructured { return annotated(o, adopt, "always") },
	"None":           func(o *unstructured.Unstructured) *unstructured.Unstructured { return annotated(o, adopt, "force") },
}

var _ = Describe("An object that is there already", func() {
	It("case 12: collides when nobody owns it, and not a byte of it changes", func(ctx SpecContext) {
		w := begin(ctx)
		w.collides(ctx, w.create(ctx, w.configMap("a", "key", "theirs")), w.configMap("a", "key", "value"), "field manager administrator")
	})

	It("case 13: is adopted by a forced apply when the manifest says so and it has no controller", func(ctx SpecContext) {
		w := begin(ctx)
		w.adopts(ctx, w.create(ctx, w.configMap("a", "key", "theirs", "x", "theirs")), annotated(w.configMap("a", "key", "value"), adopt, "always"))
	})

	It("case 14: is adopted by a forced apply when the manifest forces it", func(ctx SpecContext) {
		w := begin(ctx)
		w.adopts(ctx, w.create(ctx, w.configMap("a", "key", "theirs", "x", "theirs")), annotated(w.configMap("a", "key", "value"), adopt, "force"))
	})

	It("case 15: collides when it has a controller, which the report names", func(ctx SpecContext) {
		w := begin(ctx)
		theirs := w.create(ctx, w.controlled(ctx, w.configMap("a", "key", "theirs")))
		w.collides(ctx, theirs, w.configMap("a", "key", "value"), "ConfigMap master")
	})

	It("case 16: collides when it has a controller, although the manifest would adopt what has none", func(ctx SpecContext) {
		w := begin(ctx)
		theirs := w.create(ctx, w.controlled(ctx, w.configMap("a", "key", "theirs")))
		w.collides(ctx, theirs, annotated(w.configMap("a", "key", "value"), adopt, "always"), "ConfigMap master")
	})

	It("case 17: is taken from its controller when the manifest forces it, and has no controller then", func(ctx SpecContext) {
		w := begin(ctx)
		theirs := w.create(ctx, w.controlled(ctx, w.configMap("a", "key", "theirs", "x", "theirs")))
		found := w.adopts(ctx, theirs, annotated(w.configMap("a", "key", "value"), adopt, "force"))
		Expect(metav1.GetControllerOf(found)).To(BeNil())
		Expect(found.GetOwnerReferences()).To(HaveLen(1))
		Expect(found.GetOwnerReferences()[0].Name).To(Equal("master"))
	})

	It("case 18: collides when it has a controller, although it carries our label and a revision number", func(ctx SpecContext) {
		w := begin(ctx)
		theirs := annotated(w.controlled(ctx, w.configMap("a", "key", "theirs")), engine.RevisionAnnotation, "1")
		theirs = w.create(ctx, with(theirs, "core", "metadata", "labels", engine.ManagedByLabel))
		w.collides(ctx, theirs, annotated(w.configMap("a", "key", "value"), adopt, "always"), "ConfigMap master")
	})

	It("case 19: is ours in every mode when the installer before us wrote its revision number: without owners there are no orphans", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start(legacy(formerInstaller))
		number := int64(1)
		for mode, say := range modes {
			number++
			name := strings.ToLower(mode)
			w.formerly(ctx, 1, w.configMap(name, "key", "former"))
			before, wanted := w.uid(ctx, w.configMap(name)), say(w.configMap(name, "key", "value"))
			e.converge(ctx, of(number, wanted))
			found := w.fetch(ctx, wanted)
			Expect(found.GetUID()).To(Equal(before), mode)
			Expect(field(found, "data", "key")).To(Equal("value"), mode)
			Expect(found.GetOwnerReferences()).To(BeEmpty(), mode)
		}
	})

	It("case 19: collides when it carries a revision number and nothing proves whose", func(ctx SpecContext) {
		w := begin(ctx)
		w.collides(ctx, w.create(ctx, w.numbered("a")), w.configMap("a", "key", "value"), "field manager administrator")
	})

	It("case 19: is adopted, whatever its revision number, when the manifest says so", func(ctx SpecContext) {
		w := begin(ctx)
		w.adopts(ctx, w.create(ctx, w.numbered("a")), annotated(w.configMap("a", "key", "value"), adopt, "always"))
	})
})

// numbered is a ConfigMap with the marks of a revision, but for the identity of its installation.
func (w *world) numbered(name string) *unstructured.Unstructured {
	o := with(w.configMap(name, "key", "theirs", "x", "theirs"), "core", "metadata", "labels", engine.ManagedByLabel)
	return annotated(o, engine.RevisionAnnotation, "1")
}

var _ = Describe("An object of ours", func() {
	It("case 20: is left to the newer revision that has it", func(ctx SpecContext) {
		w := begin(ctx)
		newer, older := of(5, w.configMap("a", "key", "five")), of(4, w.configMap("a", "key", "four"))
		e := w.start()
		e.converge(ctx, newer)
		before := w.fetch(ctx, w.configMap("a"))
		for pass, opts := range map[*running][]engine.ReconcileOption{e: {engine.Keep()}, w.fresh(older): nil} {
			since := mark(ctx)
			report := &engine.Report{}
			Expect(e.drive(ctx, "a look at revision 4", func(ctx context.Context) (bool, error) {
				var err error
				if report, err = pass.Reconcile(ctx, older, opts...); err != nil {
					return true, err
				}
				return true, acted(w.configMap("a"), engine.Progressed)(report)
			})).To(Succeed())
			Expect(about(w.configMap("a"), w.writes(ctx, since))).To(BeEmpty())
			Expect(w.fetch(ctx, w.configMap("a"))).To(Equal(before))
		}
	})

	It("case 21: takes the number of the next revision with the same content, without a new generation", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.crd("gadget") // a new number alone gives a Deployment a new generation
		e := w.start()
		e.converge(ctx, of(4, wanted))
		before := w.fetch(ctx, wanted)
		report := e.until(ctx, of(5, wanted), acted(wanted, engine.Updated))
		Expect(in(report, wanted).Why).To(ContainSubstring("revision 4"))
		found := w.fetch(ctx, wanted)
		Expect(number(found)).To(Equal("5"))
		Expect(found.GetUID()).To(Equal(before.GetUID()))
		Expect(found.GetGeneration()).To(Equal(before.GetGeneration()))
	})

	It("case 22: keeps the reference of an owner that is no controller; none of ours is ever set, so there are no siblings to adopt from", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		owned := w.controlled(ctx, wanted).GetOwnerReferences()
		owned[0].Controller = nil
		w.put(ctx, "other", wanted, func(o *unstructured.Unstructured) { o.SetOwnerReferences(owned) })
		e.converge(ctx, of(2, wanted))
		found := w.fetch(ctx, wanted)
		Expect(number(found)).To(Equal("2"))
		Expect(found.GetOwnerReferences()).To(Equal(owned))
	})

	It("case 23: collides when another installation has it at the same number: identities take the place of siblings", func(ctx SpecContext) {
		w := begin(ctx)
		w.start(func(c *engine.Config) { c.Owner = w.owner + "-other"; c.Namespace = "default" }).converge(ctx, of(1, w.configMap("a", "key", "theirs")))
		DeferCleanup(func(ctx SpecContext) {
			w.delete(ctx, with(w.configMap("capstan-inventory-1"), "default", "metadata", "namespace"))
		})
		w.collides(ctx, w.fetch(ctx, w.configMap("a")), w.configMap("a", "key", "value"), w.owner+"-other")
	})

	It("case 24: is recovered when its number cannot be read, and collides when the identity is another's", func(ctx SpecContext) {
		w := begin(ctx)
		ours, theirs := w.configMap("ours", "key", "value"), w.configMap("theirs", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, ours, theirs))
		e.stop()
		w.merge(ctx, "other", ours, `{"metadata":{"annotations":{"`+engine.RevisionAnnotation+`":"abc"}}}`)
		w.merge(ctx, "other", theirs, `{"metadata":{"annotations":{"`+engine.RevisionAnnotation+`":"abc","`+engine.OwnerAnnotation+`":"else"}}}`)
		before := w.fetch(ctx, theirs)
		report := w.start().until(ctx, of(1, ours, theirs), func(report *engine.Report) error {
			if !in(report, ours).Applied() {
				return fmt.Errorf("%s is not applied\n%s", engine.KeyOf(ours), report)
			}
			return acted(theirs, engine.Collision)(report)
		})
		Expect(in(report, theirs).Owner).To(ContainSubstring("else"))
		Expect(number(w.fetch(ctx, ours))).To(Equal("1"))
		Expect(w.fetch(ctx, theirs)).To(Equal(before))
	})
})

// controlled is a copy of an object with a controller that exists.
func (w *world) controlled(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	master := w.create(ctx, w.configMap("master"))
	o = o.DeepCopy()
	o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(master, master.GroupVersionKind())})
	return o
}

// fresh is an engine that has seen nothing but one revision.
func (w *world) fresh(rev *engine.Revision) *running {
	GinkgoHelper()
	e := w.start()
	e.Watch(rev)
	return e
}

// collides applies what is wanted and expects it to leave alone what is there, and to say whose it is.
func (w *world) collides(ctx context.Context, there, wanted *unstructured.Unstructured, holder string) {
	GinkgoHelper()
	since := mark(ctx)
	report := w.start().until(ctx, of(1, wanted), func(report *engine.Report) error {
		if report.Unknown() {
			return errors.New(report.Blocked())
		}
		return acted(wanted, engine.Collision)(report)
	})
	Expect(report.Complete()).To(BeFalse())
	Expect(in(report, wanted).Owner).To(ContainSubstring(holder))
	Expect(report.Blocked()).To(And(ContainSubstring(holder), ContainSubstring(wanted.GetName())))
	Expect(w.fetch(ctx, wanted)).To(Equal(w.there(ctx, there)))
	Expect(successful(about(wanted, w.writes(ctx, since)))).To(BeEmpty())
}

// there is an object as the API server would give it, from the answer to a write.
func (w *world) there(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	found := w.fetch(ctx, o)
	Expect(found.GetResourceVersion()).To(Equal(o.GetResourceVersion()))
	return found
}

// adopts applies what is wanted and expects it to take over what is there, which it returns.
func (w *world) adopts(ctx context.Context, there, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	since := mark(ctx)
	report := w.start().until(ctx, of(1, wanted), acted(wanted, engine.Updated))
	Expect(in(report, wanted).Why).To(ContainSubstring("adopted"))
	found := w.fetch(ctx, wanted)
	Expect(found.GetUID()).To(Equal(there.GetUID()))
	Expect(field(found, "data")).To(Equal(map[string]any{"key": "value", "x": "theirs"}))
	Expect(found.GetLabels()).To(HaveKeyWithValue(engine.ManagedByLabel, "core"))
	Expect(found.GetAnnotations()).To(HaveKeyWithValue(engine.OwnerAnnotation, w.owner))
	applies := successful(about(wanted, w.writes(ctx, since)))
	Expect(applies).NotTo(BeEmpty())
	Expect(verbs(applies)).To(HaveEach("patch"), applies.String())
	return found
}

// successful keeps the requests that the API server granted.
func successful(all cluster.RequestList) cluster.RequestList {
	return all.Where(func(r cluster.Request) bool { return r.Code < 400 })
}
