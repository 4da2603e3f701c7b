package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// Met is the gate of what revisions require of definitions that others install: of the shape of a definition what the
// guards ask before a revision goes on, of its objects that the requirement is in force. Of the installed revision only
// the definition matters. What an image requires by itself is waited for by nobody.
func Met(r engine.Requirement, installed bool) engine.Probe {
	seen := requirementOf(r)
	shape, derived := render.Derived(r.Key.Name)
	ask := seen.InForce
	switch {
	case !derived:
		return engine.Probe{Answer: engine.AnswerTrue}
	case installed:
		ask = seen.CompatibleOnly
	case shape:
		ask = seen.ShapeMet
	}
	answers := map[machine.Truth]engine.Answer{machine.Yes: engine.AnswerTrue, machine.No: engine.AnswerFalse, machine.Unknown: engine.AnswerUnknown}
	answer := ask()
	// A probe is told with the object's name before it.
	return engine.Probe{Answer: answers[answer.Truth], Message: strings.TrimPrefix(answer.Reason, seen.Named())}
}

// requirementOf makes facts of a requirement and its definition.
func requirementOf(r engine.Requirement) guards.Requirement {
	seen := guards.Requirement{Name: r.Key.Name, Definition: r.About, Absent: r.Absent, Unseen: r.Unseen}
	if r.Object != nil {
		seen.Generation = r.Object.GetGeneration()
		for _, c := range conditionsIn(r.Object) {
			generation, _, _ := unstructured.NestedInt64(c, "observedGeneration")
			seen.Conditions = append(seen.Conditions, guards.Condition{
				Type: textIn(c, "type"), Status: textIn(c, "status"), Reason: textIn(c, "reason"), Message: textIn(c, "message"), Generation: generation,
			})
		}
		seen.ObservedUID = textIn(r.Object.Object, "status", "observedCRD", "uid")
		seen.ObservedGeneration, _, _ = unstructured.NestedInt64(r.Object.Object, "status", "observedCRD", "generation")
	}
	if crd := r.Definition; crd != nil {
		seen.Live = guards.Definition{
			Exists: true, UID: string(crd.GetUID()), Generation: crd.GetGeneration(), Terminating: crd.GetDeletionTimestamp() != nil,
		}
		for _, c := range conditionsIn(crd) {
			seen.Live.Established = seen.Live.Established || c["type"] == "Established" && c["status"] == "True"
		}
	}
	return seen
}

func conditionsIn(o *unstructured.Unstructured) (conditions []map[string]any) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, entry := range all {
		if c, is := entry.(map[string]any); is {
			conditions = append(conditions, c)
		}
	}
	return conditions
}

func textIn(of map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(of, path...)
	return text
}

// requirements notes what the desired revision leaves to others, and what was seen of what it requires of them.
func (p *Pass) requirements(facts *guards.Facts) {
	if desired := p.world.desiredEntry(); desired != nil {
		facts.Unmanaged = desired.UnmanagedCustomResourceDefinitions
	}
	facts.RequirementsKnown = p.desired != nil
	if p.desired == nil || len(facts.Unmanaged) == 0 {
		return
	}
	for _, r := range p.Engine.Requirements(p.desired) {
		switch shape, derived := render.Derived(r.Key.Name); {
		case shape:
			facts.Requirements = append(facts.Requirements, requirementOf(r))
		case derived:
			facts.ObjectRequirements = append(facts.ObjectRequirements, requirementOf(r))
		}
	}
}

// note tells the engine which definitions are the administrator's from now on, whatever revisions say, and which revision is
// installed.
func (p *Pass) note() {
	noted := engine.Noted{Unmanaged: p.world.unmanaged(), LeftAlone: p.leftAlone()}
	noted.Adopts, noted.AdoptsIn = p.adopts()
	if current := p.world.currentEntry(); current != nil {
		noted.Current = current.Revision
	}
	if p.world.api == nil && p.memory.kept != nil {
		noted.Unmanaged, noted.Current = p.memory.unmanaged, p.memory.kept.Number
	}
	p.memory.unmanaged = noted.Unmanaged
	p.Engine.Note(noted)
}

// releasing has a work let go first of the definitions that the administrator has listed since they were installed.
func releasing(do func(*Pass, context.Context) error) func(*Pass, context.Context) error {
	return func(p *Pass, ctx context.Context) error {
		released, err := p.Engine.LetGo(ctx)
		for _, key := range released {
			p.did = append(p.did, fmt.Sprintf("let go of %s, which is listed as unmanaged", key))
		}
		return errors.Join(machine.InPart(InstallerController, err), do(p, ctx))
	}
}

// nowhereWarning tells of listed definitions that no profile has; empty if there are none.
func nowhereWarning(revision *render.Revision) string {
	if revision == nil || len(revision.Nowhere) == 0 {
		return ""
	}
	return fmt.Sprintf("spec.unmanagedCustomResourceDefinitions of the ClusterAPI lists what no profile has, which changes nothing: %s", machine.Shorten(strings.Join(revision.Nowhere, ", "), maxNowhere))
}

// maxNowhere bounds in bytes how much is told of names that no profile has.
const maxNowhere = 300
