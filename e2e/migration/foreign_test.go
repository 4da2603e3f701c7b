package migration_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// foreign are locks that are not of the operator that is tried: of another installation of Capstan, of somebody else, and of whom
// nobody can say.
var foreign = map[string]map[string]string{
	"theirs": {lockMark: "true", companionMark: `{"id":"c0ffee00-0000-4000-8000-000000000000/20260101T000000Z/private","direction":"private","stage":"moving"}`},
	"bare":   {lockMark: "true"},
	"spoilt": {lockMark: "true", companionMark: `{"id":`},
}

var _ = Describe("Hosted clusters that others have locked", Ordered, func() {
	var (
		m      *moving
		began  cluster.Mark
		hosted []*hostedworld.Hosted
		before []picture
	)
	BeforeAll(func(ctx SpecContext) {
		m = newMoving(ctx)
		for name, marks := range foreign {
			hosted = append(hosted, m.add(ctx, name, 1, marks))
		}
		hosted = append(hosted, m.add(ctx, "waits", 1, nil))
		for _, h := range hosted {
			before = append(before, m.take(ctx, h))
		}
		began = now(ctx)
		m.enable(ctx)
		m.begin(ctx)
	}, NodeTimeout(5*time.Minute))

	It("are written nothing of but that they are, and somebody is called once that has lasted for an hour", func(ctx SpecContext) {
		const held = `capstan_needs_attention{alert="CapstanPrivateCAPIHeld",machine="privatecapi"} 3`
		for name := range foreign {
			m.until(ctx, name, "Held")
		}
		m.until(ctx, "waits", "Eligible")
		tells(ctx, m.metrics, held)
		operator, _ := m.running()
		for range 4 { // the rule of the alert fires for what was so for an hour
			Expect(operator.Advance(16 * time.Minute)).To(Succeed())
			tells(ctx, m.metrics, held)
		}
		for name := range foreign {
			Expect(m.history().path(name)).To(HaveEach(BeElementOf("Classifying", "Held")), name)
		}
		Expect(m.isIn("waits", "Eligible")).To(Succeed())
		Expect(m.writesIn(ctx, began, hosted...)).To(BeEmpty())
		log, err := env.Cluster.RequestsSince(ctx, began)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.By(harness.UserAgent).Writes().Where(func(r cluster.Request) bool {
			_, is := foreign[r.Name]
			return r.Resource == "hostedclusters" && is && (r.Subresource != "status" || r.Code != http.StatusOK)
		})).To(BeEmpty())
		for i, h := range hosted {
			is := m.take(ctx, h)
			if h.Key() != hostedNamespace+"/waits" {
				expectSame(is, before[i])
			}
			Expect(is.uids).To(Equal(before[i].uids))
		}
	}, SpecTimeout(6*time.Minute))

	It("take turns like others once their locks are gone", Label(whole), func(ctx SpecContext) {
		for name := range foreign {
			m.mark(ctx, name, `{"`+lockMark+`":null,"`+companionMark+`":null}`)
		}
		eventually(ctx, "one of them to be moved", func(context.Context) error {
			for name := range foreign {
				if slices.Contains(m.history().path(name), "Locking") {
					return nil
				}
			}
			return errors.New(m.history().tell())
		})
	}, SpecTimeout(6*time.Minute))
})
