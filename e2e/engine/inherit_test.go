package engine_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("What a revision without an inventory has left", func() {
	It("is deleted where its managed fields prove it ours, and copies with the same marks are told and stay", func(ctx SpecContext) {
		w := begin(ctx)
		const former = 740
		old, role := w.configMap("old"), w.clusterRole("old")
		w.formerly(ctx, former, old)
		w.formerly(ctx, former, role)
		var copies []*unstructured.Unstructured
		for _, o := range []*unstructured.Unstructured{old, role} {
			copied := bare(w.fetch(ctx, o))
			copied.SetName(o.GetName() + "-copy")
			copies = append(copies, w.create(ctx, copied))
		}
		raised := w.configMap("raised") // by hand, to the number of the revision
		w.formerly(ctx, former-1, raised)
		copies = append(copies, w.merge(ctx, "administrator", raised, fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, engine.RevisionAnnotation, former)))

		e := w.start(legacy(formerInstaller))
		e.adopts(ctx, former)
		rev := of(former+1, w.configMap("a"), w.clusterRole("a"))
		e.converge(ctx, rev)
		eventually(ctx, "the copies to be told", func(context.Context) error { return e.tells(copies...) })
		Expect(e.install(ctx, rev).Gone).To(HaveLen(2))
		Expect(w.isGone(ctx, old)).To(Succeed())
		Expect(w.isGone(ctx, role)).To(Succeed())
		for _, o := range copies {
			Expect(w.uid(ctx, o)).To(Equal(o.GetUID()), o.GetName())
		}
		Expect(e.tells(copies...)).To(Succeed())
	})

	It("is not believed to be ours where tenants write, whatever field manager they name", func(ctx SpecContext) {
		w := begin(ctx)
		const former = 750
		tenant, forged, providers, said := w.newNamespace("tenant"), w.newNamespace("forged"), w.newNamespace("providers"), w.newNamespace("said")
		for _, o := range []*unstructured.Unstructured{tenant, said} {
			w.create(ctx, o)
		}
		for _, o := range []*unstructured.Unstructured{forged, providers} { // who may do anything in one may write the Namespace too
			w.formerly(ctx, former, o)
		}
		in := func(namespace *unstructured.Unstructured) *unstructured.Unstructured {
			o := with(w.configMap("old"), namespace.GetName(), "metadata", "namespace")
			w.formerly(ctx, former, o)
			return w.fetch(ctx, o)
		}
		theirs, alsoTheirs, ours, inSaid := in(tenant), in(forged), in(providers), in(said)

		e := w.start(legacy(formerInstaller), guarding(said))
		rev := of(former+1, w.configMap("a"), providers)
		e.converge(ctx, rev)
		e.adopts(ctx, former)
		eventually(ctx, "the Namespace to be told", func(context.Context) error { return e.tells(forged) }) // nobody looks into those of tenants
		Expect(e.install(ctx, rev).Gone).To(HaveLen(2))
		for _, o := range []*unstructured.Unstructured{ours, inSaid} {
			Expect(w.isGone(ctx, o)).To(Succeed(), o.GetName())
		}
		for _, o := range []*unstructured.Unstructured{theirs, w.fetch(ctx, forged), alsoTheirs} {
			Expect(w.uid(ctx, o)).To(Equal(o.GetUID()))
			Expect(w.fetch(ctx, o).GetDeletionTimestamp()).To(BeNil())
		}
	})

	It("is told of a kind that nobody watches too, until it is gone", func(ctx SpecContext) {
		w := begin(ctx)
		const former, unlisted = 765, 768
		w.create(ctx, w.crd("gadget"))
		w.formerly(ctx, unlisted, w.instance("gadget", "ours"))
		copied := bare(w.fetch(ctx, w.instance("gadget", "ours")))
		copied.SetName(w.instance("gadget", "copy").GetName())
		w.create(ctx, copied)
		eventually(ctx, "the kind to be announced", func(context.Context) error { return w.announces("gadget") })
		clk := clocktesting.NewFakeClock(time.Now())
		e := w.start(legacy(formerInstaller), func(c *engine.Config) { c.Clock = clk })
		e.adopts(ctx, former)
		Expect(e.tells(w.instance("gadget", "ours"), copied)).To(Succeed(), "the one carries the number of a revision that is listed nowhere")
		w.delete(ctx, copied)
		eventually(ctx, "the copy to be told no more", func(context.Context) error {
			clk.Step(11 * time.Minute)
			return e.tells(w.instance("gadget", "ours"))
		})
	})
})

// guarding says of namespaces that no tenant can write in them.
func guarding(namespaces ...*unstructured.Unstructured) func(*engine.Config) {
	return func(c *engine.Config) {
		c.Namespaces = append(c.Namespaces, c.Namespace)
		for _, o := range namespaces {
			c.Namespaces = append(c.Namespaces, o.GetName())
		}
	}
}

// bare is an object as somebody would create it again who has read it.
func bare(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	return o
}

// adopts gives an inventory to a revision of another installer.
func (r *running) adopts(ctx context.Context, number int64) {
	GinkgoHelper()
	eventually(ctx, "the revision to be adopted", func(ctx context.Context) error {
		return r.Adopt(ctx, engine.RevisionRef{Name: fmt.Sprintf("r%d", number), Number: number, ContentID: "old"})
	})
}

// tells is nil when these and no other objects of the world are strays.
func (r *running) tells(strays ...*unstructured.Unstructured) error {
	told := map[engine.Key]bool{}
	found, _ := r.Strays()
	for _, stray := range found {
		if stray.Key.Namespace == r.world.namespace || r.world.isNamed(stray.Key.Name) || r.world.isNamed(stray.Key.Namespace) {
			told[stray.Key] = true
		}
	}
	for _, o := range strays {
		if !told[engine.KeyOf(o)] {
			return fmt.Errorf("%s is not among %v", client.ObjectKeyFromObject(o), told)
		}
	}
	if len(told) != len(strays) {
		return fmt.Errorf("strays: %v", told)
	}
	return nil
}
