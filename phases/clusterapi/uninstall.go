package clusterapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// MaxUninstallText bounds in bytes what is told of a revision that awaits consent, so that a message has room for the
// state, the time and the command that consents.
const MaxUninstallText = 500

// maxNamed bounds in bytes the name of a user in that, and maxVoid why an act does not count.
const (
	maxNamed = 64
	maxVoid  = 128
)

// askUninstallConsent finds out whether the planned revision would end what runs and the
// administrator has not consented to that for the name that the revision gets.
// What is listed already was consented to. Before the inventories are seen
// nothing is planned that would have to be listed. While nothing is listed there
// is no revision to go on with, and what is asked for cannot be planned.
func (p *Pass) askUninstallConsent() {
	act := p.standing(acts.ConsentToUninstall)
	defer func() { p.judgeUninstallConsent(act) }()
	planned, desired := p.plan.revision, p.world.desiredEntry()
	if planned == nil || p.isListed() {
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
	if p.plan.uninstalls = p.uninstalled(p.whatRuns(stored)); p.plan.uninstalls == "" {
		return
	}
	next, exact := p.expectedNumber(stored)
	consented := p.numberToUninstallBy(act)
	if consented == next || consented > next && !exact { // of the second publish finds out
		p.plan.consent = act
		return
	}
	p.plan.consentTo = p.plannedName(next)
	p.plan.awaitsConsent = p.uninstallText(p.plan.consentTo, act)
	if desired == nil {
		p.plan.revision, p.plan.err = nil, machine.Terminal(errors.New(p.plan.awaitsConsent))
	}
}

// counted is the highest number that the API server told of, while this was the
// desired revision.
type counted struct {
	known   bool
	desired operatorv1alpha1.RevisionName
	highest int64
}

// expectedNumber is the number that the planned revision gets. Until publish has
// asked the API server, which has the last word, the inventories are a good guess;
// after that nothing else counts, so that a watch that is late cannot contradict it.
func (p *Pass) expectedNumber(stored engine.Inventories) (number int64, exact bool) {
	if counted := p.memory.counted; counted.known && counted.desired == p.world.desiredName() {
		return p.numberAfter(counted.highest), true
	}
	var highest int64
	for _, held := range stored.Of {
		highest = max(highest, held.Number)
	}
	return p.numberAfter(highest), false
}

func (p *Pass) plannedName(number int64) string {
	return render.Name(p.releaseOf(p.world), p.plan.revision.ContentID, number)
}

// numberToUninstallBy is the number in a consent to the planned content, 0 if there is none.
func (p *Pass) numberToUninstallBy(act *acts.Act) int64 {
	if act == nil || act.RevisionName() != p.plannedName(act.Revision()) {
		return 0
	}
	return act.Revision()
}

// uninstallText says what the revision of a name would end, what to do if that is not meant, and why an act does not count that is there.
func (p *Pass) uninstallText(name string, act *acts.Act) string {
	text := fmt.Sprintf("revision %s would uninstall ", name)
	rest := fmt.Sprintf("; what is installed stays; list images in ConfigMap %s/%s that have it", p.OperatorNamespace, ImagesConfigMap)
	if p.withoutFolder() != "" {
		rest += ", and rebuild or mount the one that lacks its folder"
	}
	if act != nil {
		rest += fmt.Sprintf("; the consent by %s is not for revision %s", machine.Shorten(act.By, maxNamed), name)
	} else if told := p.toldConsent(); told != nil && !told.Used {
		is := "is void"
		if told.Ended {
			is = "has ended"
		}
		rest += "; the consent that is given " + is + ": " + machine.Shorten(told.Void, maxVoid)
	}
	return text + machine.Shorten(p.plan.uninstalls, MaxUninstallText-len(text)-len(rest)) + rest
}

// uninstalled says what of that which runs would end with the planned revision:
// all of it, every workload of a component that stays listed, or a component
// whose image may be one of those that were built without their folder; empty for
// nothing of that. Any other component that leaves the list is no slip of a build.
func (p *Pass) uninstalled(runs running) string {
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
		if known, is := p.memory.unneeded[ref]; is && known.platform == "" {
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
