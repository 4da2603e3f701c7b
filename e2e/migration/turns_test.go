package migration_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

var _ = Describe("Three hosted clusters that may be moved, of which one does worse where it moves to", Ordered, Label(whole), func() {
	names := []string{"a", "b", "c"}
	var (
		m      *moving
		hosted = map[string]*hostedworld.Hosted{}
		before = map[string]picture{}
		failed cluster.Mark
	)

	BeforeAll(func(ctx SpecContext) {
		m = newMoving(ctx)
		for _, name := range names {
			hosted[name] = m.add(ctx, name, 2, nil)
			before[name] = m.take(ctx, hosted[name])
		}
		m.breaks("b", hosted["b"])
		m.enable(ctx)
		m.begin(ctx)
	}, NodeTimeout(10*time.Minute))

	It("take turns, and no two of them are ever locked at once", func(ctx SpecContext) {
		m.until(ctx, "a", "Private")
		m.until(ctx, "b", "Failed")
		failed = now(ctx)
		m.until(ctx, "c", "Private")
		m.history().expectTurns("a", "b", "c")
		for _, name := range []string{"a", "c"} {
			expectMovedAway(m.take(ctx, hosted[name]), before[name])
		}
	}, SpecTimeout(30*time.Minute))

	It("are moved but for the one whose move has failed, which is left alone as long as it says so", func(ctx SpecContext) {
		operator, _ := m.running()
		Expect(operator.Advance(2 * time.Hour)).To(Succeed())
		Consistently(func() error { return m.isIn("b", "Failed") }).WithTimeout(3 * time.Second).Should(Succeed())
		Expect(m.writesIn(ctx, failed, hosted["b"])).To(BeEmpty())
		expectUntouched(m.take(ctx, hosted["b"]), before["b"], map[string]string{legacyMark: "legacy", failedMark: "health-check-timeout"})
		m.history().expectTurns("a", "b", "c")
	}, SpecTimeout(3*time.Minute))

	It("are all moved once somebody has taken that off", func(ctx SpecContext) {
		m.mends("b", hosted["b"])
		m.mark(ctx, "b", `{"`+failedMark+`":null}`)
		m.until(ctx, "b", "Private")
		m.history().expectTurns("a", "b", "c", "b")
		expectMovedAway(m.take(ctx, hosted["b"]), before["b"])
	}, SpecTimeout(15*time.Minute))
})
