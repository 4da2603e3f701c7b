package events

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	testclock "k8s.io/utils/clock/testing"
)

func TestLimit_lets_no_more_through_in_any_span(t *testing.T) {
	clock, told := testclock.NewFakePassiveClock(noon), 0
	tell := NewLimit(2, time.Minute, clock, logr.Discard()).Through(func(Event) { told++ })
	for _, row := range []struct {
		after time.Duration
		told  int
	}{{0, 1}, {50 * time.Second, 2}, {59 * time.Second, 2}, {60 * time.Second, 3}, {61 * time.Second, 3}, {110 * time.Second, 4}} {
		clock.SetTime(noon.Add(row.after))
		if tell(Event{}); told != row.told {
			t.Errorf("after %s told are %d, want %d", row.after, told, row.told)
		}
	}
	var none *Limit
	if none.Through(func(Event) { told = -1 })(Event{}); told != -1 {
		t.Error("without a limit an Event does not get through")
	}
}
