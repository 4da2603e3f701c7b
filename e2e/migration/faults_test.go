package migration_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/hostedworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// refusal is what an API server refuses in one state of a move, until that is given up.
type refusal struct{ state, verb, resource, reason string }

// refusals are of all states that are undone from once the source is paused: those of what each of them does.
var refusals = []refusal{
	{"Pausing", "patch", "clusters", "scale-down-timeout"},
	{"Draining", "patch", "deployments", "scale-down-timeout"},
	{"Snapshotting", "list", "machines", "resource-conversion-failed"},
	{"Copying", "create", "machines", "resource-conversion-failed"},
	{"CopyingStatus", "update", "machines", "status-copy-failed"},
	{"Rewiring", "patch", "secrets", "workload-update-failed"},
	{"Equipping", "update", "deployments", "workload-update-failed"},
	{"Starting", "patch", "deployments", "scale-up-timeout"},
	{"Comparing", "list", "inmemorymachines", "proxy-verify-failed"},
	{"Unpausing", "patch", "clusters", "health-check-timeout"},
}

var _ = Describe("A move that cannot go on leaves all as it was before, no copy and no lock", Ordered, ContinueOnFailure, Label(whole), func() {
	const paused = "capstan.openshift.io/private-capi-paused"
	var (
		m      *moving
		h      *hostedworld.Hosted
		before picture
	)
	BeforeAll(func(ctx SpecContext) {
		m = newMoving(ctx)
		h = m.add(ctx, "shop", 2, nil)
		before = m.take(ctx, h)
		m.enable(ctx)
		m.begin(ctx)
	}, NodeTimeout(6*time.Minute))

	It("in state Locking, where it has not begun", func(ctx SpecContext) {
		rule := m.refuse(h, refusal{"Locking", "patch", "namespaces", ""})
		eventually(ctx, "a move that cannot go on", rule.isMet)
		m.mark(ctx, "shop", `{"`+paused+`":"true"}`)
		eventually(ctx, "the move to be given up", func(context.Context) error { return m.isIn("shop", "Eligible") })
		rule.end()
		expectUntouched(m.take(ctx, h), before, map[string]string{legacyMark: "legacy", paused: "true"})
	}, SpecTimeout(12*time.Minute))

	for _, r := range refusals {
		It("in state "+r.state, func(ctx SpecContext) {
			from := len(m.history().path("shop"))
			rule := m.refuse(h, r)
			m.mark(ctx, "shop", `{"`+paused+`":null,"`+failedMark+`":null}`)
			eventually(ctx, "the move to be undone", m.undoneFrom("shop", from, r.state))
			Expect(rule.isMet(ctx)).To(Succeed())
			rule.end()
			expectUntouched(m.take(ctx, h), before, map[string]string{legacyMark: "legacy", failedMark: r.reason})
		}, SpecTimeout(12*time.Minute))
	}

	It("in state Observing", func(ctx SpecContext) {
		m.breaks("shop", h)
		from := len(m.history().path("shop"))
		m.mark(ctx, "shop", `{"`+failedMark+`":null}`)
		eventually(ctx, "the move to be undone", m.undoneFrom("shop", from, "Observing"))
		m.mends("shop", h)
		m.haveReady(ctx, h, hostedworld.Standard, 2)
		expectUntouched(m.take(ctx, h), before, map[string]string{legacyMark: "legacy", failedMark: "health-check-timeout"})
	}, SpecTimeout(12*time.Minute))

	It("and can be tried again", func(ctx SpecContext) {
		m.mark(ctx, "shop", `{"`+failedMark+`":null}`)
		m.until(ctx, "shop", "Private")
		expectMovedAway(m.take(ctx, h), before)
	}, SpecTimeout(12*time.Minute))
})

// refusing is a refusal that is in force.
type refusing struct {
	m    *moving
	met  chan struct{}
	rule *proxy.Active
}

// refuse has the API server refuse something while a hosted cluster is in a state.
func (m *moving) refuse(h *hostedworld.Hosted, r refusal) *refusing {
	now := &refusing{m: m, met: make(chan struct{}, 1)}
	no := proxy.Answer(http.StatusForbidden, 0)
	now.rule = m.between.Add(proxy.Rule{Verb: r.verb, Resource: r.resource, Fault: func(x *proxy.Exchange) {
		if x.Request.DryRun || m.told(m.lives, h) != r.state {
			x.Pass()
			return
		}
		select {
		case now.met <- struct{}{}:
			m.sticks(r.state)
		default:
		}
		no(x)
	}})
	return now
}

// isMet is nil once something was refused.
func (r *refusing) isMet(context.Context) error {
	if len(r.met) == 0 {
		return errors.New("nothing was refused")
	}
	return nil
}

func (r *refusing) end() {
	r.rule.End()
	r.m.sticks("")
}

// undoneFrom is nil when a move that has begun after some states is undone, and has come to a state and no further.
func (m *moving) undoneFrom(name string, from int, state string) func(context.Context) error {
	return func(context.Context) error {
		path := m.history().path(name)[from:]
		for i, one := range path {
			if one == "Repausing" && i > 0 && path[i-1] == state {
				return m.isIn(name, "Failed")
			}
		}
		return fmt.Errorf("it has gone %v, and is not undone from %s", path, state)
	}
}
