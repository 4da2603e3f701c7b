package engine_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An inventory", func() {
	It("gets its label back when somebody took it off, and still knows what is retained", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		held, rev := w.crd("held"), of(2, w.configMap("a"))
		e.install(ctx, of(1, held, w.configMap("a")))
		w.create(ctx, w.instance("held", "mine"))
		Expect(e.install(ctx, rev).Retained).To(HaveLen(1))
		e.stop()
		inventory := w.configMap("capstan-inventory-2")
		w.merge(ctx, "other", inventory, `{"metadata":{"labels":{"`+engine.InventoryLabel+`":null}}}`)
		e = w.start()
		e.converge(ctx, rev)
		Expect(w.fetch(ctx, inventory).GetLabels()).To(HaveKey(engine.InventoryLabel))
		eventually(ctx, "the inventory to be seen", func(context.Context) error {
			if found := e.Orphans(rev).Retained; len(found) != 1 || found[0] != engine.KeyOf(held) {
				return fmt.Errorf("retained: %v", found)
			}
			return nil
		})
	})
})
