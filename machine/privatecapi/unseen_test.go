package privatecapi_test

import (
	"fmt"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// after is a move of which some seconds have gone by, and whether it is under way by then.
func after(t *testing.T, seconds int) (p *play, key machine.Key, was before, under bool) {
	t.Helper()
	p, key = waits(t)
	was = p.picture(key)
	p.begin(key)
	for range seconds {
		p.round()
	}
	return p, key, was, guards.MarksOf(p.Annotations(key)).Migrating
}

// Without the annotation, operators take a HostedCluster for their own, and put its components back.
func TestMigration_comes_to_an_end_in_whichever_second_operators_lose_sight_of_the_lock(t *testing.T) {
	const begun, watching, watched, over = 4, 36, 62, 72
	for n := begun; n < over; n++ {
		if n == watching {
			n = watched
		}
		for _, away := range []time.Duration{0, 2 * time.Minute} {
			t.Run(fmt.Sprintf("second %d, seen again after %s", n, away), func(t *testing.T) {
				t.Parallel()
				p, key, was, under := after(t, n)
				if !under {
					t.Fatalf("nothing is locked in %s", p.State(key))
				}
				p.Annotate(key, guards.MigrationAnnotation, "")
				for range int(away.Seconds()) { // the process is away, and the operators are not
					p.Pass(time.Second)
				}
				if p.ends(key) == moved {
					p.isMoved(key, was)
				} else {
					p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
				}
				if t.Failed() {
					t.Logf("states %v", p.visited)
				}
			})
		}
	}
}
