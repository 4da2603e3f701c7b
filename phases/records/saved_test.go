package records

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/machine"
)

func TestWithTransitions_keeps_as_many_of_the_newest_as_fit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(what string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", `"`, "<", "…"}).Draw(t, what), rapid.IntRange(0, 40).Draw(t, what+" times"))
		}
		record := machine.Record{State: "Cloning", Reason: text("reason")}
		bare, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(t, "transitions") {
			record.Transitions = append(record.Transitions, machine.Transition{From: "A", Event: "E", To: "B", Seconds: 0.25, Cause: text("cause")})
		}
		room := len(bare) + rapid.IntRange(0, 1500).Draw(t, "room")
		got, err := withTransitions(bare, record.Transitions, room)
		if err != nil {
			t.Fatal(err)
		}
		want, err := fitting(record, room, json.Marshal)
		if err != nil {
			t.Fatal(err)
		}
		read, whole := Decoded(got)
		expected, _ := Decoded(want)
		if !whole || len(got) != len(want) || !reflect.DeepEqual(read, expected) {
			t.Fatalf("it takes %d bytes of %d, and %d are right: %s", len(got), room, len(want), got)
		}
	})
}
