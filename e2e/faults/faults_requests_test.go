package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// repairs lets a fault meet the writes by which the operator puts a ConfigMap
// right, and breaks that object.
func repairs(count int, f proxy.Fault) func(context.Context, *cell) {
	return func(ctx context.Context, c *cell) {
		GinkgoHelper()
		rule := between.Add(proxy.Rule{Verb: "patch", Name: next(), Count: count, Fault: f})
		c.later(rule.End)
		edit(ctx)
		isMet(ctx, rule, max(count, 1))
	}
}

func isMet(ctx context.Context, rule *proxy.Active, times int) {
	GinkgoHelper()
	eventually(ctx, "the operator to meet the fault", func(context.Context) error { return met(rule, times) })
}

// soon is a fault that is over so quickly that nothing needs to be told.
var soon = everywhere(expectation{word: unnoticed, mended: true})

// fiveMinutes lets an error last until people are told that something is wrong.
func fiveMinutes(begin func(context.Context, *cell), texts ...string) (func(context.Context, *cell), func(*stage) expectation) {
	began := func(ctx context.Context, c *cell) {
		GinkgoHelper()
		c.later(func() { advance(31 * second) }) // by now it is tried again every 30 s
		begin(ctx, c)
		until(ctx, "the error to be told", unkept(c.stage, texts...)...)
		advance(5*time.Minute + time.Second)
	}
	return began, func(s *stage) expectation {
		e := expectation{word: escalates, to: harness.Degraded, told: troubled(&stage{state: harness.Degraded}, texts...), blocked: true}
		if !s.leads {
			e.word, e.to = told, ""
		}
		e.departs = s.state == harness.AwaitingCRDs // what it stood still for is still so
		if s.state == harness.MaxRevisions {
			e.told = troubled(s, texts...)
		}
		return e
	}
}

var writeFaults = func() []fault {
	const answered = "the fault proxy answers "
	lasting, degrades := fiveMinutes(repairs(0, proxy.Answer(http.StatusInternalServerError, 0)), "ConfigMap openshift-cluster-api/edited-", answered+"Internal Server Error")
	return ofWrites([]fault{
		{
			name: "409 Conflict", doc: "The API server answers the operator's write with 409 twice.",
			begin: repairs(2, proxy.Answer(http.StatusConflict, 0)), expect: soon,
		},
		{
			name: "429 Too Many Requests", doc: "The API server asks to be left alone for a second (429 with Retry-After), twice.",
			begin: repairs(2, proxy.Answer(http.StatusTooManyRequests, 1)), expect: soon,
		},
		{
			name: "500 on writes", doc: "The API server answers every write to an object with 500.",
			begin: repairs(0, proxy.Answer(http.StatusInternalServerError, 0)), expect: tells("ConfigMap openshift-cluster-api/edited-", answered+"Internal Server Error"),
		},
		{
			name: "503 on writes", doc: "The API server answers every write to an object with 503.",
			begin: repairs(0, proxy.Answer(http.StatusServiceUnavailable, 0)), expect: tells("ConfigMap openshift-cluster-api/edited-", answered+"Service Unavailable"),
		},
		{
			name: "504 on writes", doc: "Every write to an object times out on its way through the API server (504).",
			begin: repairs(0, proxy.Answer(http.StatusGatewayTimeout, 0)), expect: tells("ConfigMap openshift-cluster-api/edited-", answered+"Gateway Timeout"),
		},
		{
			name: "no answer to a write", doc: "A write is never answered, and the connection stays open; the operator waits at most 35 s.",
			begin: repairs(0, proxy.Hang), expect: everywhere(expectation{word: unnoticed, blocked: true}),
		},
		{
			name: "connection reset before the server acts", doc: "The connection breaks twice before the API server has seen the write.",
			begin: repairs(2, proxy.ResetBefore), expect: soon,
		},
		{
			name: "connection reset after the server acted", doc: "The connection breaks after the API server has stored the write, and before it has said so.", quick: true,
			begin: repairs(1, proxy.ResetAfter), expect: soon,
		},
		{
			name: "slow answers", doc: "Every write to an object takes a second and a half.",
			begin: repairs(0, proxy.Slow(1500*time.Millisecond)), expect: soon,
		},
		{
			name: "truncated answer", doc: "The connection breaks in the middle of the answer to a write.",
			begin: repairs(1, proxy.Truncate), expect: soon,
		},
		{
			name: "500 on writes for five minutes", doc: "The API server answers every write to an object with 500, and goes on so.",
			begin: lasting, expect: degrades,
		},
	})
}()

// ofWrites are faults that nothing but a write meets.
func ofWrites(faults []fault) []fault {
	for i := range faults {
		expect := faults[i].expect
		faults[i].expect = func(s *stage) expectation {
			if s.quiet {
				return expectation{never: "no object is written"}
			}
			return expect(s)
		}
	}
	return faults
}

// blind edits a ConfigMap while a fault meets the watches, all of which
// are cut so that they begin anew.
func blind(f proxy.Fault, count int) func(context.Context, *cell) {
	return func(ctx context.Context, c *cell) {
		GinkgoHelper()
		restart(ctx)
		watching(ctx)
		rule := between.Add(proxy.Rule{Verb: "watch", Count: count, Fault: f})
		c.later(rule.End)
		next()
		between.CutWatches("")
		edit(ctx)
		isMet(ctx, rule, 1)
	}
}

// watching waits until an operator that has just begun watches all that it will.
// One that has lost its watches several times takes longer and longer to come back.
func watching(ctx context.Context) {
	GinkgoHelper()
	leader(ctx)
	want := 12 // in any state
	if replicas.count > 1 {
		want = 16 * replicas.count // where two are tried
	}
	eventually(ctx, "all watches to be under way", func(context.Context) error {
		if watches := between.Watches(); watches < want {
			return fmt.Errorf("%d are under way", watches)
		}
		return nil
	})
}

var watchFaults = []fault{
	{
		name: "watches dropped", doc: "The connections of all watches break at once, and an object is edited at that moment.", quick: true,
		begin: func(ctx context.Context, _ *cell) {
			restart(ctx)
			watching(ctx)
			next()
			between.CutWatches("")
			edit(ctx)
		},
		expect: soon,
	},
	{
		name: "410 Gone", doc: "All watches break, and the API server has forgotten where they were (410 Gone).",
		begin: blind(proxy.Answer(http.StatusGone, 0), 5), expect: soon,
	},
	{
		name: "404 on watches", doc: "All watches break, and something on the way to the API server answers the first new ones with 404.",
		begin: blind(proxy.Answer(http.StatusNotFound, 0), 12), expect: soon,
	},
	{
		name: "watches delayed", doc: "Every event of every watch is a second late.",
		begin: blind(proxy.Late(time.Second), 0), expect: soon,
	},
	{
		name: "watches refused", relieved: true, doc: "All watches break and the API server refuses new ones.",
		begin: blind(proxy.Answer(http.StatusServiceUnavailable, 0), 0), expect: everywhere(expectation{word: unnoticed, blocked: true}),
	},
	{
		name: "stale lists", doc: "All watches break, and lists come from an API server that is behind: an object is edited after what they show.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			restart(ctx)
			watching(ctx)
			stale, err := between.Stale(ctx)
			Expect(err).NotTo(HaveOccurred())
			next()
			edit(ctx)
			c.repaired(ctx)
			next()
			lists := between.Add(proxy.Rule{Verb: "list", Fault: stale})
			first := between.Add(proxy.Rule{Verb: "watch", Count: between.Watches(), Fault: proxy.Answer(http.StatusGone, 0)})
			streams := between.Add(proxy.Rule{Verb: "watch", Fault: stale})
			for _, rule := range []*proxy.Active{lists, first, streams} {
				c.later(rule.End)
			}
			between.CutWatches("")
			isMet(ctx, lists, 3)
			edit(ctx)
		},
		expect: soon,
	},
}

var statusFaults = []fault{
	{
		name: "ClusterOperator cannot be written", doc: "Every write to the status of the ClusterOperator is answered with 500: nobody can be told anything, and the work goes on.",
		begin: func(ctx context.Context, c *cell) {
			rule := between.Add(proxy.Rule{Verb: "patch", Resource: "clusteroperators", Fault: proxy.Answer(http.StatusInternalServerError, 0)})
			c.later(rule.End)
			next()
			edit(ctx)
		},
		expect: soon,
	},
}

func met(rule *proxy.Active, times int) error {
	if hits := rule.Hits(); hits < times {
		return fmt.Errorf("it has met it %d times, want %d", hits, times)
	}
	return nil
}
