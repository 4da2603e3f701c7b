package clusterapi

import (
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/history"
)

func keeping(p *Pass, c client.Client) *history.Keeper {
	return history.New(c, c, "ns", func() {}, clocktesting.NewFakeClock(p.Now()), logr.Discard())
}

// killed is a new process, of which the one before was killed right after it had written that it deletes the definition.
func killed(t *testing.T) *Pass {
	t.Helper()
	p, c := consentedTo(consenting, 2), fake.NewFakeClient()
	p.readActs(t.Context())
	p.History = keeping(p, c)
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.History.List(history.Revision{Number: 2, Name: "r"})
	if err := p.noteLosing(t.Context(), lineOf(theDefinition, p.consents(2)[theDefinition.Identity()])); err != nil {
		t.Fatal(err)
	}
	p = consentedTo(consenting, 2)
	p.readActs(t.Context())
	p.History = keeping(p, c)
	return p
}

func TestSent_are_the_deletions_of_which_nobody_has_seen_what_came_of_them(t *testing.T) {
	of := func(action engine.Action) *engine.TeardownReport {
		return &engine.TeardownReport{Waiting: []engine.Orphan{{Key: theDefinition, Action: action}}}
	}
	p := killed(t)
	for _, row := range []struct {
		report *engine.TeardownReport
		count  int
	}{
		{&engine.TeardownReport{Wait: "pruning waits for its inventories"}, 1},
		{of(engine.Failed), 1},
		{of(engine.Pending), 1},
		{of(engine.Terminating), 0},
	} {
		if sent := p.sent(t.Context()); len(sent) != 1 || sent[theDefinition.Identity()] != types.UID("12-34") {
			t.Errorf("before %+v: %v", row.report, sent)
		}
		p.tellConsents(row.report, nil)
		if got := p.sendings(); len(got) != row.count {
			t.Errorf("after %+v: %v", row.report, got)
		}
	}
}

func TestSent_is_not_forgotten_by_a_teardown_that_did_not_know_of_it(t *testing.T) {
	p := killed(t)
	stored := p.History
	p.History = history.New(failing{}, fake.NewFakeClient(), "ns", func() {}, clocktesting.NewFakeClock(p.Now()), logr.Discard())
	if sent := p.sent(t.Context()); len(sent) != 0 {
		t.Errorf("of a history that cannot be read: %v", sent)
	}
	p.History = stored // it is read while the teardown goes on
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := &engine.TeardownReport{Gone: []engine.Orphan{{Key: theDefinition, Action: engine.Absent}}}
	if p.tellConsents(gone, nil); len(p.sendings()) != 1 {
		t.Error("it is forgotten untold")
	}
}

func TestTellConsents_tells_of_one_whose_act_is_gone_for_the_revision_that_it_was_used_for(t *testing.T) {
	gone := &engine.TeardownReport{Gone: []engine.Orphan{{Key: theDefinition, Action: engine.Absent, Consented: true}}}
	for name, change := range map[string]func(*Pass){
		"the act is taken back":      func(p *Pass) { p.world.api.Annotations = nil },
		"another act is there":       func(p *Pass) { p.world.api.Annotations[acts.ConsentAct] = consenting[:len(consenting)-1] + "0" },
		"a newer revision is listed": func(p *Pass) { p.desired = &engine.Revision{Name: "newer", Number: 3} },
	} {
		p := killed(t)
		change(p)
		p.readActs(t.Context())
		if sent := p.sent(t.Context()); len(sent) != 1 {
			t.Errorf("%s: %v", name, sent)
		}
		p.tellConsents(gone, nil)
		known, _ := p.History.Known()
		const want = "consent-to-delete of CustomResourceDefinition as.test (UID 12-34) with 3 that it held, by anna"
		if got := known.Of(2); len(got.Consents) != 1 || got.Consents[0] != want || len(got.Sent) != 0 {
			t.Errorf("%s: the history has %+v", name, got)
		}
	}
}
