package clusterapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
)

// maxUninstalled bounds in bytes what is told of what would go.
const maxUninstalled = 500

// askConsent makes it a terminal error to plan a revision that would end what
// runs, unless the administrator has consented to that for the number that the
// revision gets. What is listed already was consented to.
func (p *Pass) askConsent() {
	planned, desired := p.plan.revision, p.world.desiredEntry()
	if planned == nil || desired == nil {
		return
	}
	ahead := int64(0)
	if kept := known(p.desired, p.current); len(kept) > 0 {
		ahead = p.Engine.Orphans(kept[0]).Ahead
	}
	if desired.ContentID == planned.ContentID && ahead <= desired.Revision {
		return
	}
	goes := p.uninstalled()
	if goes == "" {
		return
	}
	number := max(desired.Revision, ahead) + 1
	if consentFor(p.world.uninstall) == number {
		p.plan.consented = number
		return
	}
	p.plan.revision, p.plan.err = nil, p.withoutConsent(goes, number)
}

func (p *Pass) withoutConsent(goes string, number int64) error {
	given := ""
	if p.world.uninstall != "" {
		given = fmt.Sprintf(" (the consent that is given is not for revision %d)", number)
	}
	return machine.Terminal(fmt.Errorf("revision %d would uninstall %s; nothing is uninstalled until the inputs ask for it again or you consent: kubectl annotate clusterapi %s --overwrite %s=%d%s",
		number, machine.Shorten(goes, maxUninstalled), Singleton, UninstallAnnotation, number, given))
}

// uninstalled says what of the current revision would end with the planned one:
// all of it, or every workload of a component that stays listed; empty for
// nothing of that. A component that leaves the list is no slip of a build.
func (p *Pass) uninstalled() string {
	entry := p.world.currentEntry()
	switch {
	case entry == nil || len(entry.Components) == 0:
		return ""
	case len(p.plan.revision.Components) == 0:
		var names []string
		for _, c := range entry.Components {
			names = append(names, c.Name)
		}
		return "every component (" + strings.Join(names, ", ") + ")"
	case p.current == nil:
		return ""
	}
	stays := map[string]bool{}
	for _, c := range p.plan.revision.Components {
		stays[c.Name] = true
	}
	now, then := workloads(p.current.Components), workloads(p.memory.rendered.components)
	var texts []string
	for _, c := range p.current.Components {
		ends := slices.DeleteFunc(slices.Clone(now[c.Name]), func(key engine.Key) bool {
			return slices.ContainsFunc(then[""], func(other engine.Key) bool { return sameObject(key, other) })
		})
		if stays[c.Name] && len(then[c.Name]) == 0 && len(ends) > 0 {
			var names []string
			for _, key := range ends {
				names = append(names, key.String())
			}
			texts = append(texts, fmt.Sprintf("every workload of component %s (%s), which stays listed", c.Name, strings.Join(names, ", ")))
		}
	}
	return strings.Join(slices.Compact(texts), "; ")
}

// workloads are those of components by their names, and all of them by the empty name.
func workloads(components []engine.Component) map[string][]engine.Key {
	found := map[string][]engine.Key{}
	for i := range components {
		for _, key := range components[i].Keys() {
			if key.Group == "apps" && slices.Contains([]string{"Deployment", "DaemonSet", "StatefulSet"}, key.Kind) {
				found[components[i].Name] = append(found[components[i].Name], key)
				found[""] = append(found[""], key)
			}
		}
	}
	return found
}
