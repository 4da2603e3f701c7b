package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// Without the label of the fence, a policy may deny the operator what it writes in the namespace of a control plane.
func TestMigration_puts_a_fence_back_that_somebody_takes_away_late(t *testing.T) {
	for _, from := range append([]machine.State{guards.RemovingSource}, back...) {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			if from != guards.RemovingSource {
				p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
				p.LoseRecord(key)
				p.restart()
			}
			p.until(string(from), 20*time.Minute, p.reaches(key, from))
			p.RefuseUnfenced()
			p.Unfence(key)
			if p.ends(key) == moved {
				p.isMoved(key, was)
				return
			}
			p.isBack(key, was, guards.AmbiguousState)
		})
	}
}
