package clusterapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// maxUninstalled bounds in bytes what is told of what would go.
const maxUninstalled = 500

// askConsent finds out whether the planned revision would end what runs and the
// administrator has not consented to that for the name that the revision gets.
// What is listed already was consented to. Before the inventories are seen
// nothing is planned that would have to be listed. While nothing is listed there
// is no revision to go on with, and what is asked for cannot be planned.
func (p *Pass) askConsent() {
	planned, desired := p.plan.revision, p.world.desiredEntry()
	if planned == nil || desired != nil && desired.ContentID == planned.ContentID && p.begun == 0 {
		return
	}
	stored := p.Engine.Inventories()
	if !stored.Seen {
		p.plan.revision, p.plan.err = nil, stored.Err
		if stored.Err == nil {
			p.plan.waiting = "what is installed has not been seen yet: the inventories of revisions are being listed"
		}
		return
	}
	if p.plan.ends = p.uninstalled(p.installed(stored)); p.plan.ends == "" {
		return
	}
	next, consented := p.nextAtLeast(stored), p.consentedNumber()
	switch {
	case consented == next, consented > next && p.memory.highest == 0: // nobody has asked for the exact number yet
	case desired == nil:
		p.plan.err = machine.Terminal(errors.New(p.howToConsent(p.plannedName(next))))
		p.plan.revision = nil
	default:
		p.plan.awaits = p.howToConsent(p.plannedName(next))
	}
}

// nextAtLeast is the number that the planned revision gets, as far as that can
// be told without a request: publish asks the API server, and has the last word.
func (p *Pass) nextAtLeast(stored engine.Inventories) int64 {
	highest := max(p.begun, p.memory.highest)
	for _, held := range stored.Of {
		highest = max(highest, held.Number)
	}
	return nextNumber(p.world.desiredEntry(), highest)
}

func (p *Pass) plannedName(number int64) string {
	return render.Name(p.Release, p.plan.revision.ContentID, number)
}

// consentedNumber is the number in a consent to the planned content, 0 if there is none.
func (p *Pass) consentedNumber() int64 {
	number, is := strings.CutPrefix(p.world.uninstall, strings.TrimSuffix(p.plannedName(1), "1"))
	if !is {
		return 0
	}
	return consentFor(number)
}

// howToConsent says what the revision of a name would end, and what to do about it.
func (p *Pass) howToConsent(name string) string {
	given := ""
	if p.world.uninstall != "" {
		given = " (the consent that is given is not for revision " + name + ")"
	}
	return fmt.Sprintf("revision %s would uninstall %s; what is installed stays: list images in ConfigMap %s that have it, or, only if it is to go, consent: kubectl annotate clusterapi %s --overwrite %s=%s%s",
		name, machine.Shorten(p.plan.ends, maxUninstalled), ImagesConfigMap, Singleton, UninstallAnnotation, name, given)
}

// installed is what runs, as far as its end has to be consented to.
type installed struct {
	// components are in order; workloads are theirs by their names, none where only the names are known.
	components []string
	workloads  map[string][]engine.Key
}

// installed is what the current revision has: by its inventory, because its
// images may not be at hand, or else by them, or else by the list, which has the
// names of its components only. While none is current it is what the newest
// revision has that was begun before the desired one; of that one's own workloads
// nobody was told yet that they work.
func (p *Pass) installed(stored engine.Inventories) installed {
	current, desired := p.world.currentEntry(), p.world.desiredEntry()
	for _, held := range slices.Backward(stored.Of) {
		if current != nil && held.Number == current.Revision || current == nil && (desired == nil || held.Number < desired.Revision) {
			return installedBy(held)
		}
	}
	if current == nil {
		return installed{}
	}
	listed := installed{workloads: map[string][]engine.Key{}}
	if p.current != nil {
		listed.workloads = workloads(p.current.Components)
	}
	for _, c := range current.Components {
		listed.components = append(listed.components, c.Name)
	}
	return listed
}

func installedBy(held engine.Held) installed {
	found := installed{workloads: map[string][]engine.Key{}}
	for _, o := range held.Objects {
		if !slices.Contains(found.components, o.Component) {
			found.components = append(found.components, o.Component)
		}
		if isWorkload(o.Key) {
			found.workloads[o.Component] = append(found.workloads[o.Component], o.Key)
		}
	}
	return found
}

// uninstalled says what of that which runs would end with the planned revision:
// all of it, every workload of a component that stays listed, or a component
// whose image may be one of those that were built without their folder; empty for
// nothing of that. Any other component that leaves the list is no slip of a build.
func (p *Pass) uninstalled(runs installed) string {
	planned := p.plan.revision.Components
	if len(runs.components) == 0 {
		return ""
	}
	if len(planned) == 0 {
		return "every component (" + strings.Join(runs.components, ", ") + ")"
	}
	then, without := workloads(p.memory.rendered.components), p.withoutFolder()
	var texts []string
	for _, name := range runs.components {
		stays := slices.ContainsFunc(planned, func(c render.Component) bool { return c.Name == name })
		ends := slices.DeleteFunc(slices.Clone(runs.workloads[name]), func(key engine.Key) bool {
			return slices.ContainsFunc(then[""], func(other engine.Key) bool { return sameObject(key, other) })
		})
		switch {
		case stays && len(then[name]) == 0 && len(ends) > 0:
			texts = append(texts, fmt.Sprintf("the workloads of component %s (%s), which stays listed", name, namesOf(ends)))
		case !stays && without != "":
			texts = append(texts, fmt.Sprintf("component %s, while image %s has no folder %s", name, without, images.ManifestsFolder))
		}
	}
	return strings.Join(texts, "; ")
}

// withoutFolder names a listed image that brings nothing for any platform, empty for none.
func (p *Pass) withoutFolder() string {
	for _, ref := range p.world.refs {
		if platform, known := p.memory.unneeded[ref]; known && platform == "" {
			return ref.Short()
		}
	}
	return ""
}

func namesOf(keys []engine.Key) string {
	var names []string
	for _, key := range keys {
		names = append(names, key.String())
	}
	return strings.Join(names, ", ")
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
