package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("Two installations in one namespace", func() {
	// another is an engine that shares nothing with those of the world but the cluster and the namespace.
	another := func(c *engine.Config) {
		c.Owner, c.FieldManager, c.InventoryPrefix, c.Label = "another/"+c.Owner, "another", "another-inventory-", "another"
	}

	It("never meet: neither inventories nor numbers nor objects", func(ctx SpecContext) {
		w := begin(ctx)
		ours, theirs := w.start(), w.start(another)
		mine, other := w.configMap("mine", "key", "value"), w.configMap("theirs", "key", "value")
		ours.converge(ctx, of(1, mine))
		theirs.converge(ctx, of(1, other))
		for _, inventory := range []string{inventoryPrefix + "1", "another-inventory-1"} {
			w.fetch(ctx, w.configMap(inventory))
		}
		found := w.fetch(ctx, other)
		Expect(found.GetLabels()).To(HaveKeyWithValue(engine.ManagedByLabel, "another"))
		Expect(entries(found)).To(ConsistOf("another Apply"))
		Expect(entries(w.fetch(ctx, mine))).To(ConsistOf("capstan Apply"))

		// What one of them removes was its own, and so is what it counts.
		ours.install(ctx, of(2, w.configMap("next")))
		Expect(w.isGone(ctx, mine)).To(Succeed())
		Expect(w.fetch(ctx, other)).To(Equal(found))
		w.fetch(ctx, w.configMap("another-inventory-1"))
		Expect(ours.HighestNumber(ctx, 0)).To(BeEquivalentTo(2))
		Expect(theirs.HighestNumber(ctx, 0)).To(BeEquivalentTo(1))
		Expect(ours.Strays()).To(BeEmpty())
		Expect(theirs.Strays()).To(BeEmpty())
		theirs.install(ctx, of(2, w.configMap("last")))
		Expect(w.isGone(ctx, other)).To(Succeed())
		w.fetch(ctx, w.configMap("next"))
	})

	It("collide over an object that both want, and the second one says whose it is", func(ctx SpecContext) {
		w := begin(ctx)
		ours, theirs := w.start(), w.start(another)
		wanted := w.configMap("a", "key", "value")
		ours.converge(ctx, of(1, wanted))
		before := w.fetch(ctx, wanted)
		report := theirs.until(ctx, of(1, annotated(wanted, engine.AdoptAnnotation, "force")), acted(wanted, engine.Collision))
		Expect(in(report, wanted).Owner).To(ContainSubstring(w.owner))
		Expect(w.fetch(ctx, wanted)).To(Equal(before))
	})

	It("keep and remove what the label shows, also when it was taken off", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start(another)
		wanted := w.configMap("a", "key", "value")
		e.converge(ctx, of(1, wanted))
		w.merge(ctx, "other", wanted, `{"metadata":{"labels":{"`+engine.ManagedByLabel+`":"core"}},"data":{"key":"other"}}`)
		e.until(ctx, of(1, wanted), func(report *engine.Report) error {
			if found := w.fetch(ctx, wanted); found.GetLabels()[engine.ManagedByLabel] != "another" || field(found, "data", "key") != "value" {
				return complete(&engine.Report{Wait: "the label and the value are not back"})
			}
			return complete(report)
		})
		w.merge(ctx, "other", wanted, `{"metadata":{"labels":{"`+engine.ManagedByLabel+`":null}}}`)
		e.install(ctx, of(2, w.configMap("b")))
		Expect(w.isGone(ctx, wanted)).To(Succeed())
	})
})
