package bootimage

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/stub"
)

// TellUpgrade has people told of an upgrade of the stub that nobody has answered.
var TellUpgrade = machine.Action[*Pass]{
	Name: "TellUpgrade", Writes: []string{"ConfigMap"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) {
		p.hears(ctx)
		return machine.Result{}, nil
	},
	Doc: "if the answer to an upgrade of the stub was lost and the Secret says that it was done, tells that by an Event and notes it with the attempt, as UpgradeStub does where it is answered.",
}

// upgrade is a write of a stub: of which Secret and key, from which spec, and the time that was written into it.
type upgrade struct {
	key       client.ObjectKey
	field, at string
	from      stub.Version
}

// hears tells of an upgrade of which nothing was heard, once its Secret has what was sent.
func (p *Pass) hears(ctx context.Context) {
	if p.plan == nil || p.plan.Upgrade == nil {
		return
	}
	if seen := p.look(ctx, p.plan.Upgrade.key, p.plan.Upgrade.field); seen.unread == nil && seen.upgraded == p.plan.Upgrade.at {
		p.tellUpgrade(ctx, p.plan.Upgrade)
	}
}

// tellUpgrade tells people of a stub that was upgraded, on the target that it was done for, and notes it with the attempt.
func (p *Pass) tellUpgrade(ctx context.Context, done *upgrade) {
	p.upgraded(ctx)
	p.replan(func(plan *plan) { plan.Upgraded, plan.Upgrade = true, nil })
	if p.Event == nil {
		return
	}
	text := fmt.Sprintf("the stub in Secret %s was upgraded from spec %s to %s, which images that are older cannot read", done.key, done.from, stub.Converted)
	p.Event(events.Event{By: golden.FieldManager, About: p.About(), Key: text, Reason: "StubUpgraded", Action: "UpgradeStub", Text: text})
}
