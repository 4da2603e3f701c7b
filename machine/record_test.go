package machine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRecord_takes_no_more_than_it_says(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(what string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"", "a", "\x00", "\"", "<", "…", "\xff", "\u2028"}).Draw(t, what), rapid.IntRange(0, 90).Draw(t, what+" times"))
		}
		at := time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.FixedZone("far", -14*3600))
		r := Record{
			UID: text("uid"), State: State(text("state")), Since: at, LastEvent: Event(text("event")), Cause: text("cause"), CameFrom: State(text("from")), Reason: text("reason"),
			Progress: Progress{Done: -1 << 60, Since: at}, Entry: Entry{Inputs: text("inputs"), Done: -1 << 60, Effect: Event(text("effect"))},
		}
		if rapid.Bool().Draw(t, "more") {
			r.Deadline = &Deadline{At: at, On: Event(text("on")), To: State(text("to"))}
			r.Failure = &Failure{Message: text("message"), Terminal: true, Part: text("part"), Effect: Event(text("failed")), Since: at, Lasted: true}
			r.Lasting = map[Event]time.Time{Event(text("lasting")): at}
			r.Beside = map[Event]Standing{Event(text("beside")): {Since: at, Lasted: true}}
		}
		for range rapid.IntRange(0, 5).Draw(t, "transitions") {
			r.Transitions = append(r.Transitions, Transition{
				From: State(text("a")), Event: Event(text("b")), To: State(text("c")), At: at, Seconds: -1.2345678901234567e-300, Cause: text("d"),
			})
		}
		raw, err := json.Marshal(r)
		if err != nil || len(raw) > r.AtMost() {
			t.Fatalf("it takes %d bytes, and says at most %d (%v)", len(raw), r.AtMost(), err)
		}
	})
}
