package migration_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// most is how often an operator is killed on one way at most.
const most = 300

// lives are how many writes an operator makes before it is killed, one after the other. Some are long enough for what it repeats before
// it comes to something new.
var lives = []int{1, 2, 3, 1, 2, 8}

var _ = Describe("An operator that is killed after a few writes again and again", Ordered, Label(whole), func() {
	const (
		revert = `{"capstan.openshift.io/private-capi-revert":"true"}`
		retry  = `{"` + failedMark + `":null}`
	)
	var (
		m *moving
		h *hostedworld.Hosted
		// What an undisturbed one leaves: of a move, of the way back that somebody asks for, and of a move that is undone.
		moved, reverted, undone picture
		before                  picture
	)
	BeforeAll(func(ctx SpecContext) {
		m = newMoving(ctx)
		h = m.add(ctx, "shop", 2, nil)
		before = m.take(ctx, h)
		m.enable(ctx)
		m.begin(ctx)
		m.until(ctx, "shop", "Private")
		moved = m.take(ctx, h)
		m.mark(ctx, "shop", revert)
		m.until(ctx, "shop", "Failed")
		reverted = m.take(ctx, h)
		m.breaks("shop", h)
		from := len(m.history().path("shop"))
		m.mark(ctx, "shop", retry)
		eventually(ctx, "the move to be undone", m.undoneFrom("shop", from, "Observing"))
		m.mends("shop", h)
		m.haveReady(ctx, h, hostedworld.Standard, 2)
		undone = m.take(ctx, h)
		expectMovedAway(moved, before)
	}, NodeTimeout(25*time.Minute))

	It("moves a hosted cluster to where an undisturbed one does", func(ctx SpecContext) {
		m.killUntil(ctx, func() { m.mark(ctx, "shop", retry) }, func(context.Context) error { return m.isIn("shop", "Private") })
		expectSame(m.take(ctx, h), moved)
	}, SpecTimeout(40*time.Minute))

	It("moves it back to where an undisturbed one does", func(ctx SpecContext) {
		m.killUntil(ctx, func() { m.mark(ctx, "shop", revert) }, func(context.Context) error { return m.isIn("shop", "Failed") })
		expectSame(m.take(ctx, h), reverted)
	}, SpecTimeout(40*time.Minute))

	It("undoes a move of it as an undisturbed one does", func(ctx SpecContext) {
		at := m.take(ctx, h)
		from := len(m.history().path("shop"))
		m.killUntil(ctx, func() {
			m.breaks("shop", h)
			m.mark(ctx, "shop", retry)
		}, m.undoneFrom("shop", from, "Observing"))
		m.mends("shop", h)
		m.haveReady(ctx, h, hostedworld.Standard, 2)
		is := m.take(ctx, h)
		expectSame(is, undone)
		Expect(is.uids).To(Equal(at.uids))
	}, SpecTimeout(50*time.Minute))

	AfterAll(func(ctx SpecContext) {
		Expect(m.take(ctx, h).calls).To(Equal(before.calls), "what the cloud was asked for")
	})
})

// killUntil asks something of the operator while none runs, and then kills it after a few writes, and starts it again, until a question
// is answered with nil.
func (m *moving) killUntil(ctx context.Context, ask func(), reached func(context.Context) error) {
	GinkgoHelper()
	defer m.between.CountWrites()
	for killed := range most {
		if killed == 0 {
			operator, _ := m.running()
			operator.Kill()
			ask()
		}
		begun := make(chan *harness.Operator, 1)
		ended := m.between.EndAfter(lives[killed%len(lives)], func() { (<-begun).Kill() })
		m.operate()
		operator, _ := m.running()
		begun <- operator
		if m.reachedBefore(ctx, ended, reached) {
			AddReportEntry("how often it was killed", killed)
			Expect(killed).To(BeNumerically(">=", 20))
			return
		}
	}
	Fail(fmt.Sprintf("it was killed %d times, and is not there: %s", most, m.history().tell()))
}

// reachedBefore says whether a question is answered with nil before the operator is killed.
func (m *moving) reachedBefore(ctx context.Context, ended <-chan struct{}, reached func(context.Context) error) bool {
	GinkgoHelper()
	attempt, answered := harness.Unless(ended, reached)
	eventually(ctx, "the operator to be killed or done", attempt)
	return *answered
}
