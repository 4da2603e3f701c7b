package machine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestStep_an_instance_has_its_own_patience_with_a_deadline(t *testing.T) {
	for name, row := range map[string]struct {
		own   time.Duration
		fires time.Duration
	}{
		"a longer one":          {time.Hour, time.Hour},
		"a shorter one":         {time.Second, time.Second},
		"none, so the row's":    {0, time.Minute},
		"less, so the row's":    {-time.Hour, time.Minute},
		"the very one of a row": {time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.table.Patience = func(w world, on Event) time.Duration {
				if on != "Stalled" || w.urgent {
					t.Errorf("asked of %s in %+v", on, w)
				}
				return row.own
			}
			if b.step(); b.record.Deadline == nil || !b.record.Deadline.At.Equal(b.now.Add(row.fires)) {
				t.Fatalf("the deadline is %+v, want it in %s", b.record.Deadline, row.fires)
			}
			b.now = b.now.Add(row.fires - time.Nanosecond)
			if out := b.step(); out.Moved != nil {
				t.Fatalf("too early: %+v", out.Moved)
			}
			b.now = b.now.Add(time.Nanosecond)
			out := b.step()
			if out.Moved == nil || out.Moved.Event != "Stalled" || !strings.Contains(out.Moved.Cause, "no progress for "+short(row.fires)) {
				t.Fatalf("got %+v", out.Moved)
			}
			checkTakenAgain(t, b.table, *out.Decision())
		})
	}
}

// checkTakenAgain writes a decision down, and takes it again on the table: by what was written, and not by what the table says now.
func checkTakenAgain(t *testing.T, table Table[world, *world], made Decision) {
	t.Helper()
	text, err := json.Marshal(made)
	var read Decision
	if err != nil || json.Unmarshal(text, &read) != nil || !reflect.DeepEqual(read, made) {
		t.Fatalf("%+v is read as %+v (%v)", made, read, err)
	}
	table.Patience = func(world, Event) time.Duration { return 1000 * time.Hour }
	if again, _, err := table.Replay(read); err != nil || again.Event != made.Event || again.Cause != made.Cause {
		t.Errorf("%+v is taken again as %+v (%v)", made, again, err)
	}
}
