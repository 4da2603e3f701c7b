package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// MakePlan notes what is planned for a target.
var MakePlan = machine.Action[*Pass]{
	Name: "MakePlan",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return p.makePlan(), nil },
	Doc:  "notes the wanted image, the old reference and the version of the Secret as they are seen; they are stored with the attempt. What was planned before is forgotten. Nothing is sent.",
}

func (p *Pass) makePlan() machine.Result {
	made := &plan{UID: p.UID, Wanted: p.Judged.Wanted, Old: present(p.Judged), SecretVersion: p.stub.version}
	p.plan = made
	p.memory.of(p.Key, func(r *remembered) { r.plan, r.written, r.lost, r.cloned = made, "", false, "" })
	return machine.Result{Did: "planned " + machine.Shorten(made.Wanted, machine.MaxMessage)}
}
