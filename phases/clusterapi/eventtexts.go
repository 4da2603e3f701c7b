package clusterapi

import (
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/events"
)

// eventsOf tells what has come to stand since a detail was written, one Event for each
// kind of thing. What stood before is not told again, also after a restart, nor is
// what the detail has no room for, of which nobody could tell whether it stood before:
// the first of each kind have room, as written says.
func eventsOf(before, written Detail, d guards.Display) []events.Event {
	return slices.Concat(
		actEvents(before.Acts, written.Acts),
		events.Appeared(events.Event{Reason: "HistoryLost", Action: "Look", Warns: true}, told(before.HistoryBegins), told(written.HistoryBegins), short),
		events.Appeared(events.Event{Reason: "Collision", Action: "Apply", Warns: true}, before.Collisions, first(d.Collisions, len(written.Collisions)), collisionKey),
		events.Appeared(events.Event{Reason: "Refused", Action: "Apply", Warns: true}, before.Refused, first(d.Refused, len(written.Refused)), refusedKey),
		events.Appeared(events.Event{Reason: "Contested", Action: "Apply", Warns: true}, before.Contested, first(d.Contested, len(written.Contested)), contestedKey),
		events.Appeared(events.Event{Reason: "Retained", Action: "Prune"}, before.Retained, first(d.Retained, len(written.Retained)), retainedKey),
		events.Appeared(events.Event{Reason: "ConsentVoid", Action: "Prune", Warns: true}, voided(before.Retained), voided(first(d.Retained, len(written.Retained))), voidKey),
		events.Appeared(events.Event{Reason: "Stray", Action: "Watch", Warns: true}, before.Strays, first(d.Strays, len(written.Strays)), short),
	)
}

// told is a text as the only thing of its kind, none if it is empty.
func told(text string) []string {
	return slices.DeleteFunc([]string{text}, func(t string) bool { return t == "" })
}
