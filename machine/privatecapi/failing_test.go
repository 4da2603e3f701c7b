package privatecapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

func TestMigration_moves_a_machine_that_has_failed_and_it_is_failing_as_before(t *testing.T) {
	p, key := waits(t)
	p.Fail("a-0")
	p.round()
	was := p.picture(key)
	if !strings.Contains(was.objects["machines a-0"], `"phase":"Failed"`) {
		t.Fatal(was.objects["machines a-0"])
	}
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.isMoved(key, was)
	p.sameObjectsFor(key, time.Minute)
}

func TestMigration_is_undone_when_a_machine_fails_that_did_not_before(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
	p.Fail("a-0")
	p.until("undone", 15*time.Minute, p.rests(key, guards.Failed))
	if reason := guards.Reason(p.Annotations(key)[guards.FailedAnnotation]); reason != guards.HealthCheckTimeout {
		t.Errorf("failed by %q", reason)
	}
	if is, standard, private := p.Objects(key); standard == 0 || private != 0 || !strings.Contains(is["machines a-0"], `"phase":"Failed"`) {
		t.Errorf("%d standard and %d private objects, and the machine is %s", standard, private, is["machines a-0"])
	}
	if calls := p.Cloud(); len(calls) > 0 {
		t.Errorf("calls to the cloud: %v", calls)
	}
}
