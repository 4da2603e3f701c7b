package simulated

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// requirementClass is that of CompatibilityRequirements, which goes before all others.
const requirementClass = "compatibility"

// Definition is how a CustomResourceDefinition stands that others install. One that nobody speaks of is there and as it is
// needed.
type Definition struct {
	Gone, Unjudged bool
	Missing        string // what of it is missed, empty for nothing
}

// Define says how a definition stands that others install, and what a checker makes of it.
func (e *Engine) Define(name string, d Definition) {
	e.definitions[name] = d
	e.notify()
}

// Unserved takes away the kind of requirements, or brings it back.
func (e *Engine) Unserved(is bool) {
	e.unserved = is
	e.notify()
}

// Note says which definitions no revision manages, and which revision is installed.
func (e *Engine) Note(noted engine.Noted) { e.noted = noted }

// LetGo forgets the definitions that no revision manages: they are others' from now on.
func (e *Engine) LetGo(context.Context) (gone []engine.Key, err error) {
	for _, name := range slices.Sorted(maps.Keys(e.objects)) {
		there := e.objects[name]
		if there.holder != "" || !e.leaves(there.key) {
			continue
		}
		if e.broken != nil {
			return nil, e.broken
		}
		gone = append(gone, there.key)
		delete(e.objects, name)
		e.wrote.Objects++
		e.notify()
	}
	return gone, nil
}

// leaves says that a definition is left to others.
func (e *Engine) leaves(key engine.Key) bool {
	return classOf(key) == "crds" && slices.Contains(e.noted.Unmanaged, key.Name)
}

// Requirements are what a revision requires of definitions that others install.
func (e *Engine) Requirements(revision *engine.Revision) (found []engine.Requirement) {
	for _, w := range e.wavesOf(revision) {
		for _, key := range w.keys {
			if classOf(key) == requirementClass {
				found = append(found, e.requirement(revision, key))
			}
		}
	}
	return found
}

func (e *Engine) requirement(revision *engine.Revision, key engine.Key) engine.Requirement {
	r := engine.Requirement{Key: key, About: revision.Object(key).GetAnnotations()[engine.RequiredAnnotation]}
	d := e.definitions[r.About]
	switch {
	case e.unserved:
		r.Absent = noRequirements
	case e.unseen != "":
		r.Unseen = e.unseen
	case e.objects[key.String()] == nil:
		r.Absent = "does not exist yet"
	default:
		r.Object = judged(d)
	}
	if !d.Gone {
		r.Definition = &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"uid": "uid", "generation": int64(1)},
			"status":   map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
		}}
	}
	return r
}

// noRequirements is why there are none.
const noRequirements = "no API server serves CompatibilityRequirements"

// judged is a requirement as a checker leaves it.
func judged(d Definition) *unstructured.Unstructured {
	condition := func(of, status, reason, message string) any {
		return map[string]any{"type": of, "status": status, "reason": reason, "message": message, "observedGeneration": int64(1)}
	}
	fits := condition("Compatible", "True", "Compatible", "")
	switch {
	case d.Gone:
		fits = condition("Compatible", "False", "CRDNotFound", "")
	case d.Missing != "":
		fits = condition("Compatible", "False", "RequirementsNotMet", d.Missing)
	}
	status := map[string]any{
		"conditions": []any{condition("Progressing", "False", "UpToDate", ""), condition("Admitted", "True", "Admitted", ""), fits},
	}
	if !d.Gone {
		status["observedCRD"] = map[string]any{"uid": "uid", "generation": int64(1)}
	}
	if d.Unjudged {
		status = map[string]any{}
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(1)}, "status": status}}
}

// gate is the probe of a requirement that is as its revision has it.
func (e *Engine) gate(revision *engine.Revision, key engine.Key) engine.Probe {
	return phases.Met(e.requirement(revision, key), e.noted.Current == revision.Number)
}

func (c *Cluster) doDefinition(args Args) string {
	c.Engine.Define(args["name"], Definition{Gone: args.has("gone"), Unjudged: args.has("unjudged"), Missing: args["missing"]})
	return ""
}

func (c *Cluster) doRequirements(args Args) string {
	c.Engine.Unserved(args.has("unserved"))
	return ""
}
