package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// rivals are a hosted cluster that waits and one that may be moved, while the Lease is held for somebody.
func rivals(t *testing.T, holder machine.Key, renewed time.Duration) (p *play, other machine.Key) {
	t.Helper()
	p = newPlay(t)
	a := p.AddHosted("a", 1)
	p.Pass(time.Second)
	b := p.AddHosted("b", 1)
	p.Annotate(a, guards.PausedAnnotation, "true")
	p.HoldLease(holder, p.Now().Add(renewed))
	return p, b
}

func TestMigration_takes_a_Lease_whose_holder_cannot_be_a_HostedCluster(t *testing.T) {
	for _, holder := range []machine.Key{"somebody", "clusters/", "/a", "clusters/a/status", "clusters/..", "Clusters/A"} {
		p, b := rivals(t, holder, 0)
		p.until("locked in spite of "+string(holder), time.Minute, func() bool { return len(p.Locked()) == 1 && p.Locked()[0] == b })
	}
}

func TestMigration_takes_no_Lease_that_somebody_takes_by_a_clock_that_is_far_behind(t *testing.T) {
	p, b := rivals(t, "clusters/a", -time.Hour)
	for range 12 { // each time somebody else has just taken it
		for range 5 {
			p.round()
		}
		p.HoldLease("clusters/a", p.Now().Add(-time.Hour))
		if len(p.Locked()) > 0 {
			t.Fatalf("locked are %v", p.Locked())
		}
	}
	p.until("locked once it stands still", 5*time.Minute, func() bool { return len(p.Locked()) == 1 && p.Locked()[0] == b })
}
