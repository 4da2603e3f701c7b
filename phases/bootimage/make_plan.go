package bootimage

import (
	"bytes"
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// MakePlan notes what is planned for a target.
var MakePlan = machine.Action[*Pass]{
	Name: "MakePlan",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return p.makePlan(), nil },
	Doc:  "notes the wanted image, the old reference and the version of the Secret as they are seen; they are stored with the attempt. What was planned before is forgotten, but for an attempt at the same image of which nothing was sent: that stands for this plan, unless another one is asked for by annotation. Nothing is sent.",
}

func (p *Pass) makePlan() machine.Result {
	made := &plan{UID: p.UID, Wanted: p.Judged.Wanted, Old: present(p.Judged), SecretVersion: p.stub.version}
	before := p.memory.of(p.Key, nil).plan
	if p.sentNothing(before) {
		made.Counted, made.Offered = p.Notes.HoldsNote(p.Key, p.seen), before.Offered
		p.memory.stand(hashed(p.UID), false)
	}
	p.plan = made
	p.memory.of(p.Key, func(r *remembered) { r.plan, r.written, r.lost, r.cloned = made, "", false, "" })
	return machine.Result{Did: "planned " + machine.Shorten(made.Wanted, machine.MaxMessage)}
}

// sentNothing says that the attempt of the plan before stands for this one: it is what was read, at the same image, nobody has asked
// for more since, and nothing of it was sent. If only memory has it, it is stored again first.
func (p *Pass) sentNothing(before *plan) bool {
	if before == nil || before.Sent || before.UID != p.UID || before.Wanted != p.Judged.Wanted || before.Offered == nil || !bytes.Equal(p.seen, before.Offered) {
		return false
	}
	return !p.attempts.Retry.asks(p.Target.retry())
}
