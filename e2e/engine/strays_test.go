package engine_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An object with our marks that no revision lists", func() {
	It("is reported without a request, and never deleted", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := of(2, w.configMap("a", "key", "value"))
		e.install(ctx, of(1, w.configMap("a", "key", "value")))
		eventually(ctx, "what other specs have left to be gone, and nothing of this one to be a stray", func(context.Context) error {
			if found, _ := e.Strays(); len(found) > 0 {
				return fmt.Errorf("strays: %v", found)
			}
			return nil
		})
		stray := w.fetch(ctx, w.configMap("a"))
		for _, path := range [][]string{{"metadata", "uid"}, {"metadata", "resourceVersion"}, {"metadata", "managedFields"}} {
			unstructured.RemoveNestedField(stray.Object, path...)
		}
		stray.SetName("copy")
		w.create(ctx, stray)
		since := mark(ctx)
		eventually(ctx, "the stray to be seen", func(context.Context) error {
			if found, _ := e.Strays(); len(found) != 1 || found[0] != (engine.Stray{Key: engine.KeyOf(stray), Number: 1}) {
				return fmt.Errorf("strays: %v", found)
			}
			return nil
		})
		Expect(w.requests(ctx, since)).To(BeEmpty())
		e.install(ctx, rev)
		Expect(w.uid(ctx, stray)).NotTo(BeEmpty())
		Expect(e.Strays()).To(HaveLen(1))
	})

	It("is told however many copies are in a namespace of somebody else, which are counted", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		theirs := w.create(ctx, w.newNamespace("a-tenant"))
		beside := with(w.configMap("beside"), theirs.GetName(), "metadata", "namespace")
		e.install(ctx, of(1, w.configMap("a"), beside))
		copyOf := func(o *unstructured.Unstructured, name string) *unstructured.Unstructured {
			copied := bare(w.fetch(ctx, o))
			copied.SetName(name)
			return w.create(ctx, copied)
		}
		const copies = 110
		for i := range copies {
			copyOf(beside, fmt.Sprintf("copy-%d", i))
		}
		ours := copyOf(w.configMap("a"), "stray")
		eventually(ctx, "the stray to be told by name, and the copies to be counted", func(context.Context) error {
			if found, more := e.Strays(); len(found) != 1 || found[0].Key != engine.KeyOf(ours) || more != copies {
				return fmt.Errorf("strays: %v and %d more", found, more)
			}
			return nil
		})
	})
})

var _ = Describe("The revisions of another installer", func() {
	It("are pruned like ours once they are adopted, what holds data retained", func(ctx SpecContext) {
		w := begin(ctx)
		// Without the identity of a world, only the numbers say whose the objects are.
		const oldest, latest, ours = 710, 711, 712
		stays := []*unstructured.Unstructured{w.crd("gadget"), w.deployment("manager"), w.configMap("a", "key", "value")}
		old := []*unstructured.Unstructured{w.crd("held"), w.crd("free"), w.clusterRole("old"), w.serviceAccount("old"), w.deployment("old")}
		for _, o := range append(append([]*unstructured.Unstructured{}, stays...), old...) {
			w.formerly(ctx, latest, o)
		}
		w.formerly(ctx, oldest, w.configMap("oldest"))
		w.create(ctx, w.instance("held", "mine"))
		w.formerly(ctx, latest, w.webhook("old")) // which refuses every other one
		before := w.uids(ctx, append(stays, w.crd("held"), w.instance("held", "mine"))...)
		foreign := w.create(ctx, annotated(w.stamped(latest, w.configMap("theirs")), engine.OwnerAnnotation, "somebody"))

		e := w.start(legacy(formerInstaller))
		revs := []engine.RevisionRef{{Name: "r710", Number: oldest, ContentID: "old"}, {Name: "r711", Number: latest, ContentID: "new"}}
		eventually(ctx, "the revisions to be adopted", func(ctx context.Context) error { return e.Adopt(ctx, revs...) })
		since := mark(ctx)
		Expect(e.Adopt(ctx, revs...)).To(Succeed())
		Expect(verbs(w.requests(ctx, since))).NotTo(ContainElement("list"), "what is left are the watches that the inventories ask for")

		since = mark(ctx)
		rev := of(ours, stays...)
		e.converge(ctx, rev)
		Expect(e.Orphans(rev).Revisions).To(ConsistOf(int64(oldest), int64(latest)))
		report := e.install(ctx, rev)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Gone).To(HaveLen(len(old) + 1))
		Expect(w.uids(ctx, append(stays, w.crd("held"), w.instance("held", "mine"))...)).To(Equal(before))
		Expect(w.uid(ctx, foreign)).NotTo(BeEmpty())
		for _, o := range append(old[1:], w.configMap("oldest"), w.webhook("old")) {
			Expect(w.isGone(ctx, o)).To(Succeed())
		}
		order := deletions(withoutInventories(successful(w.writes(ctx, since))))
		Expect(order).To(HaveLen(len(old) + 1))
		Expect(order[0]).To(HavePrefix("validatingwebhookconfigurations"))
		Expect(order[len(order)-1]).To(HavePrefix("customresourcedefinitions"))
		Expect(e.Orphans(rev).Revisions).To(BeEmpty())
	})

	It("are adopted, and namespaces are looked through, beside a kind that nobody converts", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, w.crd("broken"))
		w.create(ctx, w.instance("broken", "theirs"))
		w.unconvertible(ctx, "broken")
		w.formerly(ctx, 730, w.newNamespace("old"))
		e := w.start(legacy(formerInstaller), guarding(w.newNamespace("old")))
		eventually(ctx, "the revision to be adopted", func(ctx context.Context) error {
			return e.Adopt(ctx, engine.RevisionRef{Name: "r730", Number: 730, ContentID: "old"})
		})
		rev := of(731, w.configMap("a"))
		e.converge(ctx, rev)
		Expect(e.pruning(ctx, rev, nil).Waiting[0].Action).To(Equal(engine.Terminating), "what follows is up to Kubernetes")
	})

	It("do not stand in the way of a revision's own inventory", func(ctx SpecContext) {
		w := begin(ctx)
		rev := of(720, w.configMap("a"), w.configMap("b"))
		e := w.start()
		eventually(ctx, "the revision to be adopted before it is applied", func(ctx context.Context) error {
			return e.Adopt(ctx, engine.RevisionRef{Name: rev.Name, Number: rev.Number, ContentID: rev.ContentID})
		})
		e.converge(ctx, rev)
		next := of(721, w.configMap("a"))
		Expect(e.install(ctx, next).Gone).To(HaveLen(1))
		Expect(w.isGone(ctx, w.configMap("b"))).To(Succeed())
	})
})
