package openshiftconfig

import (
	"context"
	"time"

	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
)

// Works is what the machine's work is done with, in one pass.
type Works interface {
	// Facts are what the pass has seen.
	Facts() guards.Facts

	// PublishData is safe to repeat: the same payload, overrides and spec give the same bytes. It fails for good, with a
	// [machine.Terminal] error, where they give no valid Ignition config.
	PublishData(context.Context) (machine.Result, error)
}

// Snapshot is an OpenShiftConfig after a pass.
type Snapshot = machine.Snapshot[guards.Facts, Works]

// again is after how long a work is tried where nobody can tell whether the machine was started.
const again = time.Second

// PublishData is the work of Publishing. Where the machine was started, or nobody can tell, it does nothing: a row leads on. Neither does it
// where somebody wants a pause, to which a row leads that may not be stored yet.
var PublishData = machine.Action[Works]{
	Name: "PublishData", Writes: []string{"Secret"},
	Doc: "merges what the spec wants into the Ignition config of the role, validates the result, and stores it as the data Secret, owned by the config. One of ours that has another type, which nobody can change, is deleted and made anew. Deletes: data Secret.",
	Run: func(ctx context.Context, w Works) (machine.Result, error) {
		facts := w.Facts()
		if guards.BootHasBegun.Answer(facts).Truth != machine.No || guards.IsPaused.Answer(facts).Truth == machine.Yes {
			return machine.Result{LookAgain: again}, nil
		}
		return w.PublishData(ctx)
	},
}
