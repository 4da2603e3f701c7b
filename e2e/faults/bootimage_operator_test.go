package faults_test

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// untroubled expects nothing to be seen of a fault.
func untroubled(s *bootStage) bootExpectation {
	if s.rests {
		return bootExpectation{word: unnoticed}
	}
	return bootExpectation{word: movesOn}
}

var bootWatchFaults = []bootFault{
	{
		name: "watches dropped", doc: "The connections of all watches break at once.",
		begin: func(_ context.Context, c *bootCell) {
			between.CutWatches("")
			c.letGo()
		},
		expect: untroubled,
	},
	{
		name: "stale lists", doc: "When the write is done all watches break, and lists come from an API server that is behind: they show how it was before.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			if c.rests { // what is seen again is the release before
				c.number++
				c.bootStage = &bootStage{machine: c.machine, state: c.state, rests: true, does: moved}
			}
			stale, err := between.Stale(ctx)
			Expect(err).NotTo(HaveOccurred())
			if c.rests {
				comes(ctx, c.number, bootworld.Stub)
			}
			c.letGo()
			eventually(ctx, "the write to be done, and told", atRest(c.number))
			lists := between.Add(proxy.Rule{Verb: "list", Fault: stale})
			first := between.Add(proxy.Rule{Verb: "watch", Count: between.Watches(), Fault: proxy.Answer(http.StatusGone, 0)})
			streams := between.Add(proxy.Rule{Verb: "watch", Fault: stale})
			for _, rule := range []*proxy.Active{lists, first, streams} {
				c.later(rule.End)
			}
			between.CutWatches("")
			isMet(ctx, lists, 3)
		},
		expect: func(s *bootStage) bootExpectation {
			e := untroubled(s)
			e.again = 1
			return e
		},
	},
}

var bootOperatorFaults = []bootFault{
	{
		name: "operator killed", doc: "The operator is killed with SIGKILL, and a new one is started.", quick: true,
		begin: func(_ context.Context, c *bootCell) {
			GinkgoHelper()
			restartBoot()
			c.letGo()
		},
		expect: func(s *bootStage) bootExpectation {
			e := untroubled(s)
			e.again = 1
			return e
		},
	},
	{
		name: "two operators at once", doc: "A second operator works beside the first, as when neither asks for the Lease.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			startBoot()
			eventually(ctx, "the second operator to work", works(operator()))
			c.later(func() {
				operator().Kill()
				started = started[:len(started)-1]
				restartBoot()
			})
			c.letGo()
			eventually(ctx, "the way to be taken", atRest(c.number))
			between.CountWrites()
			Consistently(between.Writes).WithTimeout(time.Second).Should(BeNumerically("<=", 6), "the operators do not agree")
		},
		expect: func(s *bootStage) bootExpectation {
			e := untroubled(s)
			e.again = 1
			return e
		},
	},
	{
		name: "clock jumps a day ahead", doc: "The clock is set 25 hours ahead.",
		begin: func(_ context.Context, c *bootCell) {
			advance(25 * time.Hour)
			if c.state == waitingForConfig || c.state == cloning || c.state == upgradingStub {
				c.letGo() // its request is under way: what is done when it ends is seen then
			}
		},
		expect: func(s *bootStage) bootExpectation {
			switch s.state {
			case settling:
				return bootExpectation{word: hasFailed, to: hasFailed, told: []string{"BootImageUpdateDegraded=True", "no progress"}}
			case waitingForVoucher:
				return bootExpectation{word: voucherOverdue, to: voucherOverdue, told: []string{"BootImagesControllerDegraded=True", "releaseVersion"}}
			case inCurrent:
				return bootExpectation{word: unnoticed}
			}
			return bootExpectation{word: movesOn, again: 1}
		},
	},
}
