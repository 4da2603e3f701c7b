package clusterapi

import (
	"slices"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// running is what runs, as far as its end has to be consented to.
type running struct {
	// components are in order; workloads are theirs by their names, none where only the names are known.
	components []string
	workloads  map[string][]engine.Key
}

// whatRuns is what the current revision has: by its inventory, because its
// images may not be at hand, or else by them, or else by the list, which has the
// names of its components only. While none is current, or only one of somebody
// else's, it is what the newest revision of ours has up to the desired one: that
// may have been current, and nobody can tell any more.
func (p *Pass) whatRuns(stored engine.Inventories) running {
	current, desired := p.world.currentEntry(), p.world.desiredEntry()
	unknown := current == nil || p.foreignWhy(current) != ""
	for _, held := range slices.Backward(stored.Of) {
		if current != nil && held.Number == current.Revision || unknown && (desired == nil || held.Number <= desired.Revision) {
			return runningBy(held)
		}
	}
	if current == nil {
		return running{}
	}
	listed := running{workloads: map[string][]engine.Key{}}
	if p.current != nil {
		listed.workloads = workloads(p.current.Components)
	}
	for _, c := range current.Components {
		listed.components = append(listed.components, c.Name)
	}
	return listed
}

func runningBy(held engine.Held) running {
	found := running{workloads: map[string][]engine.Key{}}
	for _, o := range held.Objects {
		if o.Component == render.RequirementsComponent {
			continue // it is no image's, and goes with the list of definitions
		}
		if !slices.Contains(found.components, o.Component) {
			found.components = append(found.components, o.Component)
		}
		if isWorkload(o.Key) {
			found.workloads[o.Component] = append(found.workloads[o.Component], o.Key)
		}
	}
	return found
}

// workloads are those of components by their names, and all of them by the empty name.
func workloads(components []engine.Component) map[string][]engine.Key {
	found := map[string][]engine.Key{}
	for i := range components {
		for _, key := range components[i].Keys() {
			if isWorkload(key) {
				found[components[i].Name] = append(found[components[i].Name], key)
				found[""] = append(found[""], key)
			}
		}
	}
	return found
}

func isWorkload(key engine.Key) bool {
	return key.Group == "apps" && slices.Contains([]string{"Deployment", "DaemonSet", "StatefulSet"}, key.Kind)
}
