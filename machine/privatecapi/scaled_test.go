package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// The operator of a component may still scale it, until it is stopped itself.
func TestMigration_gives_a_component_the_replicas_that_it_had_when_it_was_stopped(t *testing.T) {
	for _, end := range []machine.State{guards.Private, guards.Failed} {
		t.Run(string(end), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until("pausing", 5*time.Minute, p.reaches(key, guards.Pausing))
			p.ScaleComponent(key, "capi-provider", 3)
			if end == guards.Failed {
				p.until("observing", 15*time.Minute, p.reaches(key, guards.Observing))
				p.Fail("a-0")
			}
			p.until("unlocking", 30*time.Minute, p.reaches(key, guards.Unlocking)) // from then on its operator looks after it again
			if n := p.Replicas(key, "capi-provider"); n != int64(3) {
				t.Errorf("it has %v replicas", n)
			}
			p.until("over", 30*time.Minute, p.rests(key, end))
		})
	}
}
