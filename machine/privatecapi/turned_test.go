package privatecapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// turning are the states in which somebody turns what stands beside the lock.
var turning = []machine.State{guards.CopyingStatus, guards.Rewiring, guards.Comparing, guards.Observing, guards.RemovingSource}

func TestMigration_heeds_no_direction_that_somebody_has_turned(t *testing.T) {
	for _, from := range turning {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			turned := p.Companion(key)
			turned.Direction = guards.ToStandard
			p.Annotate(key, guards.CompanionAnnotation, turned.Text())
			p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
			p.isMoved(key, was)
		})
	}
}

func TestMigration_keeps_every_object_and_status_of_a_move_that_is_made_another_one(t *testing.T) {
	for _, from := range turning {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			status := p.statusOf(key)
			text := strings.ReplaceAll(p.Annotations(key)[guards.CompanionAnnotation], string(guards.ToPrivate), string(guards.ToStandard))
			p.Annotate(key, guards.CompanionAnnotation, text)
			p.keeps(key, 20*time.Minute)
			if is := p.statusOf(key); is != status {
				t.Errorf("the status was %q and is %q in %s", status, is, p.State(key))
			}
		})
	}
}

// statusOf is the phase of a Machine on either side.
func (p *play) statusOf(key machine.Key) string {
	for _, side := range []phases.Side{phases.Standard, phases.Private} {
		status, _ := p.Look(key, side, "machines", "a-0")["status"].(map[string]any)
		if phase, _ := status["phase"].(string); phase != "" {
			return phase
		}
	}
	return ""
}
