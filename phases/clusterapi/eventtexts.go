package clusterapi

import (
	"slices"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/events"
)

// eventsOf tells what has come to stand since a detail was written, one Event for each
// kind of thing. What stood before is not told again, also after a restart.
func eventsOf(before Detail, d guards.Display) []events.Event {
	return slices.Concat(
		events.Appeared(events.Event{Reason: "Collision", Action: "Apply", Warns: true}, before.Collisions, d.Collisions,
			func(c guards.Collision) string { return c.Object + " " + c.Holder }),
		events.Appeared(events.Event{Reason: "Refused", Action: "Apply", Warns: true}, before.Refused, d.Refused,
			func(r guards.Refused) string { return r.Object }),
		events.Appeared(events.Event{Reason: "Contested", Action: "Apply", Warns: true}, before.Contested, d.Contested,
			func(c guards.Contested) string { return c.Object + " " + c.Field + " " + strings.Join(c.Managers, " ") }),
		events.Appeared(events.Event{Reason: "Retained", Action: "Prune"}, before.Retained, d.Retained,
			func(r guards.RetainedObject) string { return r.Object }),
		events.Appeared(events.Event{Reason: "Stray", Action: "Watch", Warns: true}, before.Strays, d.Strays,
			func(stray string) string { return stray }),
	)
}
