package faults_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

const (
	minute = time.Minute
	second = time.Second
)

// zero is how many pods an exhausted quota allows.
var zero = resource.NewQuantity(0, resource.DecimalSI)

var operatorFaults = []fault{
	{
		name: "operator killed", doc: "The operator is killed with SIGKILL, and a new one is started.", quick: true,
		begin: func(ctx context.Context, _ *cell) {
			restart(ctx)
			next()
			edit(ctx)
		},
		expect: soon,
	},
	{
		name: "broken answers at the start", doc: "A new operator is started while the API server's answers to its first ten requests break off in the middle.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			killAll()
			rule := between.Add(proxy.Rule{Count: 10, Fault: proxy.Truncate})
			c.later(rule.End)
			startGood()
			isMet(ctx, rule, 10)
			next()
			edit(ctx)
		},
		expect: soon,
	},
	{
		name: "two operators at once", alone: "the replicas take turns", doc: "A second operator works beside the first, as when neither asks for the Lease.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			startGood()
			eventually(ctx, "the second operator to work", works(operator()))
			c.later(func() {
				operator().Kill()
				started = started[:len(started)-1]
			})
			next()
			edit(ctx)
			c.repaired(ctx)
			between.CountWrites()
			Consistently(between.Writes).WithTimeout(time.Second).Should(BeNumerically("<=", 6), "the operators do not agree")
		},
		expect: soon,
	},
	{
		name: "leader lost", alone: "the leader is killed anyway", doc: "The leader cannot renew its Lease for ten seconds: it ends, and is started again.",
		begin: func(ctx context.Context, _ *cell) {
			loseLease(ctx)
			next()
			edit(ctx)
		},
		expect: soon,
	},
}

// loseLease has an operator lead and end because it cannot renew its Lease, and starts another one.
func loseLease(ctx context.Context) {
	GinkgoHelper()
	killAll()
	operate(harness.OperatorOptions{CacheDir: cacheDir, LeaderElect: true})
	eventually(ctx, "the operator to lead", works(operator()))
	rule := between.Add(proxy.Rule{Resource: "leases", Fault: proxy.Answer(http.StatusInternalServerError, 0)})
	eventually(ctx, "the operator to end", func(context.Context) error {
		select {
		case <-operator().Exited():
			return nil
		default:
			return errors.New("it runs")
		}
	})
	Expect(operator().Failure()).To(HaveOccurred(), "an operator that is no leader any more says that all went well")
	rule.End()
	remove(ctx, shape("coordination.k8s.io/v1", "Lease", harness.OperatorNamespace, "capstan-leader"))
	startGood()
}

// works is nil when the operator has begun to work.
func works(o *harness.Operator) func(context.Context) error {
	return func(context.Context) error {
		log, err := os.ReadFile(o.Log)
		if err == nil && !strings.Contains(string(log), "Starting workers") {
			err = fmt.Errorf("%s does not say so", o.Log)
		}
		return err
	}
}

// stalled is what is expected of states of work that stand still for five minutes.
func stalled(s *stage) expectation {
	text := "no progress for 5m"
	if s.state == harness.Planning {
		text = "" // the registry's silence is an error by then, and is told instead
	}
	return expectation{word: escalates, to: harness.Degraded, departs: true, told: []func(harness.View) error{
		says("Degraded", "True", "EphemeralError", text), says("Available", "True", "AsExpected"),
	}}
}

// ended is what is expected of a pause whose time is not now any more.
var ended = expectation{word: resumes, to: harness.Installed, departs: true, mended: true, told: []func(harness.View) error{finished}}

// clockFaults begin with what leaves a state as it was: it takes seconds to reach one anew.
var clockFaults = []fault{
	{
		name: "clock jumps back", doc: "The clock is set an hour back.", quick: true,
		begin: func(ctx context.Context, _ *cell) {
			advance(-time.Hour)
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			if s.quiet {
				return ended
			}
			return soon(s)
		},
	},
	{
		name: "no progress for five minutes", doc: "What keeps the machine in the state lasts for five minutes; ten seconds before they are over nothing has changed.", quick: true,
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			v, err := harness.See(ctx, env.Client)
			Expect(err).NotTo(HaveOccurred())
			left := v.Record.Deadline.At.Sub(env.Now())
			advance(left - 10*second)
			next()
			edit(ctx)
			eventually(ctx, "the operator to look again", isRight)
			until(ctx, "the state to be kept until the deadline", harness.InState(c.stage.state))
			// No deadline fires in the first minute after a start, and to hold some states takes one.
			advance(minute + 11*second)
		},
		expect: func(s *stage) expectation {
			if s.stalls {
				return stalled(s)
			}
			return expectation{never: "the state is at rest: no progress is needed"}
		},
	},
	{
		name: "clock jumps ahead", doc: "The clock is set an hour ahead.",
		begin: func(ctx context.Context, _ *cell) {
			advance(time.Hour)
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			if s.stalls {
				e := stalled(s)
				e.mended = true
				return e
			}
			if s.quiet {
				return ended
			}
			return expectation{word: unnoticed, mended: true}
		},
	},
	{
		name: "clock jumps back, and five minutes", doc: "The clock is set an hour back, and then what keeps the machine in the state lasts for five minutes.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			advance(-time.Hour)
			next()
			edit(ctx)
			eventually(ctx, "the operator to look again", isRight)
			until(ctx, "the state to be kept", harness.InState(c.stage.state))
			advance(5*minute + 5*second)
		},
		expect: func(s *stage) expectation {
			if s.stalls {
				return stalled(s)
			}
			return expectation{never: "the state is at rest: no progress is needed"}
		},
	},
}
