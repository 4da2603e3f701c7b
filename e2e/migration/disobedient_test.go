package migration_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// passes are what the old operator leaves on what it writes.
var passes = regexp.MustCompile(`"operator\.example\.com/pass":"\d+"`)

var _ = Describe("A hosted cluster whose old operator ignores the lock", Label(whole), func() {
	It("moves as one does whose operator does not, and the fence refuses what that writes of Cluster API", func(ctx SpecContext) {
		m := newMoving(ctx)
		h := m.add(ctx, "shop", 2, map[string]string{legacyMark: "legacy"})
		before := m.take(ctx, h)
		began := now(ctx)
		ignorant, err := h.Disobey(m.lives)
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, "the old operator to write", func(context.Context) error {
			accepted, refused, problem := ignorant.Tried()
			if accepted == 0 || refused > 0 || problem != nil {
				return fmt.Errorf("%d were accepted and %d refused: %w", accepted, refused, problem)
			}
			return nil
		})
		m.enable(ctx)
		m.begin(ctx)
		m.until(ctx, "shop", "Private")

		_, refused, problem := ignorant.Tried()
		Expect(refused).To(BeNumerically(">", 20), "it met %v", problem)
		after := m.take(ctx, h)
		for key := range after.plain { // what it wrote while it was allowed to
			after.plain[key] = passes.ReplaceAllString(after.plain[key], "")
		}
		expectMovedAway(after, before)
		m.history().expectTurns("shop")

		log, err := env.Cluster.RequestsSince(ctx, began)
		Expect(err).NotTo(HaveOccurred())
		writes := log.Writes().Where(func(r cluster.Request) bool {
			return r.User == "system:serviceaccount:hypershift:operator" && strings.HasSuffix(r.APIGroup, hostedworld.Standard) && r.Namespace == h.Namespace()
		})
		is := func(r cluster.Request) bool { return r.Code != http.StatusOK }
		first := slices.IndexFunc(writes, is)
		Expect(first).To(BeNumerically(">", 0), "the first that is refused")
		Expect(writes[first:].Where(func(r cluster.Request) bool { return r.Code < 300 })).To(BeEmpty(), "accepted behind the fence")
	}, SpecTimeout(15*time.Minute))
})
