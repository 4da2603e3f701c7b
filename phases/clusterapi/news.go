package clusterapi

import (
	"slices"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/events"
)

// news is what has come to stand since a detail was written, one Event for each
// kind of thing. What stood before is no news, also after a restart.
func news(before Detail, d guards.Display) []events.News {
	return slices.Concat(
		events.Appeared(events.News{Reason: "Collision", Action: "Apply", Warns: true}, before.Collisions, d.Collisions,
			func(c guards.Collision) string { return c.Object + " " + c.Holder }),
		events.Appeared(events.News{Reason: "Refused", Action: "Apply", Warns: true}, before.Refused, d.Refused,
			func(r guards.Refused) string { return r.Object }),
		events.Appeared(events.News{Reason: "Contested", Action: "Apply", Warns: true}, before.Contested, d.Contested,
			func(c guards.Contested) string { return c.Object + " " + c.Field + " " + strings.Join(c.Managers, " ") }),
		events.Appeared(events.News{Reason: "Retained", Action: "Prune"}, before.Retained, d.Retained,
			func(r guards.RetainedObject) string { return r.Object }),
		events.Appeared(events.News{Reason: "Stray", Action: "Watch", Warns: true}, before.Strays, d.Strays,
			func(stray string) string { return stray }),
	)
}
