package bootgate

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
)

// does has a work done in a pass whose facts are those of the state that it is the work of.
func (b *bench) does(work machine.Action[*Pass], in machine.Guard[guards.Facts]) {
	b.t.Helper()
	if f, _ := b.look(); in.Answer(f).Truth != machine.Yes {
		b.t.Fatalf("%s is not the work of this state: %s", work.Name, in.Answer(f).Reason)
	}
	b.pass(work)
	b.now = b.now.Add(every)
}

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	onGCP := clonedOn(t, configv1.GCPPlatformType, Providers[1], map[string]any{"image": "projects/rhcos-cloud/global/images/old"}, "projects/rhcos-cloud/global/images/old")
	b := newBench(t, nil, append(ready(), cloned(t), onGCP)...)
	b.does(KeepConfig, machine.All(guards.Applies, machine.Not(guards.ConfigIsResolved))) // WaitingForConfig
	// Open, though that is not stored yet.
	resolved := machine.All(guards.Applies, guards.ConfigIsResolved, guards.ReleaseIsComplete, guards.GoldenIsReadable, guards.GoldenIsVouched)
	b.does(KeepConfig, machine.All(resolved, machine.Not(guards.GoldenIsKnown)))
	// Open: one target has moved, so that the images are as old as the release; then other images are wanted; and nobody needs the clones.
	b.stand(bootboard.Standing{Name: "a", Done: true})
	b.does(RetireClones, resolved)
	next := goldenMap("", "")
	b.edit(next, func() { next.Data["stream"] = stream("ami-2") })
	b.does(RetireClones, machine.All(resolved, machine.Not(guards.GoldenIsKnown)))
	b.now = b.now.Add(bootboard.AloneFor)
	b.does(RetireClones, resolved)
	b.ledger.Whole(t, "../../docs/state-diagrams/bootgate.md", works...)
}
