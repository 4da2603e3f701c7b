package faults_test

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
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// needFaults are the rows of the matrix, in the order of the document.
func needFaults() []needFault {
	return slices.Concat(needWriteFaults, needWatchFaults, needOperatorFaults, needObjectFaults)
}

// needsRepair lets a fault meet the writes by which the operator puts right what is disturbed then.
func needsRepair(count int, f proxy.Fault) func(context.Context, *needCell) {
	return func(ctx context.Context, c *needCell) {
		GinkgoHelper()
		rule := between.Add(proxy.Rule{Verb: "write", Name: need, Resource: c.keeps(), Count: count, Fault: f})
		c.later(rule.End)
		c.disturb(ctx)
		isMet(ctx, rule, max(count, 1))
	}
}

// keeps is the kind of configuration that is disturbed in a stage.
func (s *needStage) keeps() string {
	if s.state == conflicted {
		return "mutatingwebhookconfigurations"
	}
	return "validatingwebhookconfigurations"
}

// repaired expects what is disturbed to be put right while the fault lasts: a state in force is left for as long as that takes.
func repaired(s *needStage) needExpectation {
	if s.passing != "" {
		return needExpectation{word: returns}
	}
	return needExpectation{word: unnoticed}
}

// unmoved expects nothing to be seen.
func unmoved(*needStage) needExpectation { return needExpectation{word: unnoticed} }

// hindered expects nothing to be put right, and people to be told why, if they can be told.
func hindered(texts ...string) func(*needStage) needExpectation {
	return func(s *needStage) needExpectation {
		e := needExpectation{word: told, told: texts, blocked: true, promise: anything}
		e.to, e.reason = s.state, s.failing
		if s.passing != "" {
			e.word, e.to = word(s.passing), s.passing
		}
		return e
	}
}

// anything is what is promised of a configuration that somebody has edited and nobody can put right.
func anything(context.Context) error { return nil }

const proxyFails = "the fault proxy answers Internal Server Error"

var needWriteFaults = []needFault{
	{
		name: "409 Conflict", doc: "The API server answers the operator's write with 409 twice.",
		begin: needsRepair(2, proxy.Answer(http.StatusConflict, 0)), expect: repaired,
	},
	{
		name: "429 Too Many Requests", doc: "The API server asks to be left alone for a second (429 with Retry-After), twice.",
		begin: needsRepair(2, proxy.Answer(http.StatusTooManyRequests, 1)), expect: repaired,
	},
	{
		name: "500 on writes", doc: "The API server answers every write to a webhook configuration with 500.",
		begin: needsRepair(0, proxy.Answer(http.StatusInternalServerError, 0)), expect: hindered(proxyFails),
	},
	{
		name: "no answer to a write", doc: "A write is never answered, and the connection stays open; the operator waits at most 35 s.",
		begin: needsRepair(0, proxy.Hang), expect: func(s *needStage) needExpectation {
			e := needExpectation{word: unnoticed, blocked: true, promise: anything}
			if s.passing != "" {
				e.word, e.to, e.reason = word(s.passing), s.passing, arming
			}
			return e
		},
	},
	{
		name: "connection reset before the server acts", doc: "The connection breaks twice before the API server has seen the write.",
		begin: needsRepair(2, proxy.ResetBefore), expect: repaired,
	},
	{
		name: "connection reset after the server acted", doc: "The connection breaks after the API server has stored the write, and before it has said so.",
		begin: needsRepair(1, proxy.ResetAfter), expect: repaired, quick: true,
	},
	{
		name: "slow answers", doc: "Every write to a webhook configuration takes a second and a half.",
		begin: needsRepair(0, proxy.Slow(1500*time.Millisecond)), expect: repaired,
	},
	{
		name: "truncated answer", doc: "The connection breaks in the middle of the answer to a write.",
		begin: needsRepair(1, proxy.Truncate), expect: repaired,
	},
	{
		name: "500 on writes for five minutes", doc: "The API server answers every write to a webhook configuration with 500, and goes on so.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			c.later(func() { advance(31 * second) }) // by now it is tried again every 30 s
			needsRepair(0, proxy.Answer(http.StatusInternalServerError, 0))(ctx, c)
			untilNeed(ctx, "the error to be told", func(v needView) error {
				if v.record.Failure == nil {
					return errors.New("it meets none")
				}
				return nil
			})
			advance(5*minute + second)
		},
		expect: func(s *needStage) needExpectation {
			e := hindered(proxyFails)(s)
			if s.leads {
				e.word, e.to, e.reason = escalates, harness.Degraded, "TransientError"
			}
			return e
		},
	},
	{
		name: "status cannot be written", doc: "Every write to the requirement's status is answered with 500: nobody can be told anything, and the work goes on.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			rule := between.Add(proxy.Rule{Verb: "patch", Resource: "compatibilityrequirements", Fault: proxy.Answer(http.StatusInternalServerError, 0)})
			c.later(rule.End)
			c.disturb(ctx)
		},
		expect: repaired,
	},
}

// blinded disturbs something while a fault meets the watches, all of which are cut so that they begin anew.
func blinded(f proxy.Fault, count int) func(context.Context, *needCell) {
	return func(ctx context.Context, c *needCell) {
		GinkgoHelper()
		restart(ctx)
		atWork(ctx, c)
		rule := between.Add(proxy.Rule{Verb: "watch", Count: count, Fault: f})
		c.later(rule.End)
		between.CutWatches("")
		c.disturb(ctx)
		isMet(ctx, rule, 1)
	}
}

// atWork waits until an operator that was started works on the requirement.
func atWork(ctx context.Context, c *needCell) {
	GinkgoHelper()
	c.disturb(ctx)
	eventually(ctx, "the operator to work", c.right)
	c.moves = untilNeed(ctx, "the state to be held", c.rests).record.Transitions
}

var needWatchFaults = []needFault{
	{
		name: "watches dropped", doc: "The connections of all watches break at once, and something is disturbed at that moment.",
		begin: func(ctx context.Context, c *needCell) {
			restart(ctx)
			atWork(ctx, c)
			between.CutWatches("")
			c.disturb(ctx)
		},
		expect: repaired,
	},
	{
		name: "410 Gone", doc: "All watches break, and the API server has forgotten where they were (410 Gone).",
		begin: blinded(proxy.Answer(http.StatusGone, 0), 5), expect: repaired,
	},
	{
		name: "404 on watches", doc: "All watches break, and something on the way to the API server answers the first new ones with 404, and whatever is asked of requirements.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			restart(ctx)
			atWork(ctx, c)
			for _, verb := range []string{"get", "list", "watch"} {
				c.later(between.Add(proxy.Rule{Verb: verb, Resource: "compatibilityrequirements", Fault: proxy.Answer(http.StatusNotFound, 0)}).End)
			}
			rule := between.Add(proxy.Rule{Verb: "watch", Count: 5, Fault: proxy.Answer(http.StatusNotFound, 0)})
			c.later(rule.End)
			between.CutWatches("")
			c.disturb(ctx)
			isMet(ctx, rule, 1)
		},
		expect: repaired,
	},
	{
		name: "watches delayed", doc: "Every event of every watch is a second late.",
		begin: blinded(proxy.Late(time.Second), 0), expect: repaired,
	},
	{
		name: "watches refused", doc: "All watches break and the API server refuses new ones; what it lists shows what was disturbed.",
		begin: blinded(proxy.Answer(http.StatusServiceUnavailable, 0), 0), expect: repaired,
	},
}

// needCrashes kills a component and starts it again.
func needCrashes(component cluster.Component) func(context.Context, *needCell) {
	return func(ctx context.Context, c *needCell) {
		GinkgoHelper()
		env.Cluster.Kill(component)
		Expect(env.Cluster.Restart(ctx, component)).To(Succeed())
		c.disturb(ctx)
	}
}

var needOperatorFaults = []needFault{
	{
		name: "operator killed", doc: "The operator is killed with SIGKILL, and a new one is started.", quick: true,
		begin: func(ctx context.Context, c *needCell) {
			restart(ctx)
			c.disturb(ctx)
		},
		expect: repaired,
	},
	{name: "kube-apiserver crashes", doc: "kube-apiserver is killed and started again.", begin: needCrashes(cluster.APIServer), expect: repaired},
	{name: "etcd crashes", doc: "etcd is killed and started again; kube-apiserver answers nothing meanwhile.", begin: needCrashes(cluster.Etcd), expect: repaired},
	{
		name: "two operators at once", doc: "A second operator works beside the first, as when neither asks for the Lease.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			startGood()
			eventually(ctx, "the second operator to work", works(operator()))
			c.later(func() {
				operator().Kill()
				started = started[:len(started)-1]
			})
			c.disturb(ctx)
			eventually(ctx, "what was disturbed to be put right", c.right)
			untilNeed(ctx, "the state to be held", c.rests)
			between.CountWrites()
			Consistently(between.Writes).WithTimeout(time.Second).Should(BeNumerically("<=", 6), "the operators do not agree")
		},
		expect: repaired,
	},
	{
		name: "leader lost", doc: "The leader cannot renew its Lease for ten seconds: it ends, and is started again.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			loseLease(ctx)
			c.disturb(ctx)
		},
		expect: repaired,
	},
	{
		name: "clock jumps back", doc: "The clock is set an hour back.",
		begin: func(ctx context.Context, c *needCell) {
			advance(-time.Hour)
			c.disturb(ctx)
		},
		expect: repaired,
	},
	{
		name: "clock jumps ahead", doc: "The clock is set an hour ahead.",
		begin: func(ctx context.Context, c *needCell) {
			advance(time.Hour)
			c.disturb(ctx)
		},
		expect: func(s *needStage) needExpectation {
			if s.state == arming {
				return needExpectation{word: escalates, to: harness.Degraded, reason: arming, departs: true}
			}
			return repaired(s)
		},
	},
}
