package render

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// identity is what no two objects of a revision may share. The version is not
// part of it: a cluster has one object for all versions.
type identity struct {
	group, kind, namespace, name string
}

// objects renders a profile's manifests, and says of each object which rules it breaks and is let through all the same. seen
// holds the objects of all profiles rendered before.
func (r *renderer) objects(component int, s selected, seen map[identity]place) (objects []*unstructured.Unstructured, excepted [][]string) {
	file := place{image: s.Image, profile: s.Name, file: manifestsFile}
	documents := split(s.Manifests)
	if len(documents) > maxDocuments {
		r.report(file.in(documents[maxDocuments]).problem("", fmt.Sprintf("there are more than the %d documents allowed", maxDocuments)))
		return nil, nil
	}
	var size, steps atomic.Int64
	rendered := make([]*manifest, len(documents))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, doc := range documents {
		all.Go(func() error {
			alone := &renderer{substitutions: r.substitutions, faultOf: r.faultOf, strict: r.strict, most: maxDocumentProblems}
			rendered[i] = &manifest{r: alone}
			if size.Load() > maxProfile || steps.Load() > maxProfileSteps {
				return nil
			}
			alone.guarded(file.in(doc), func() {
				m, bytes := alone.document(s, file.in(doc), doc.text)
				rendered[i] = m
				size.Add(int64(bytes))
			})
			steps.Add(int64(min(alone.steps, maxDocumentSteps)))
			return nil
		})
	}
	_ = all.Wait() // problems are in the manifests
	if size.Load() > maxProfile {
		r.tooLarge(file)
		return nil, nil
	}
	if steps.Load() > maxProfileSteps {
		r.tooSlow(file)
		return nil, nil
	}
	for _, m := range rendered {
		m.unique(seen)
	}
	r.guarded(file, func() { r.judge(s.Image, rendered) })
	for _, m := range rendered {
		if m.fields != nil && !m.failed {
			r.needs.note(component, m, r.listed)
		}
		r.report(m.r.problems...)
		r.untold += m.r.untold
		r.warnings = append(r.warnings, m.r.warnings...)
		if m.fields != nil && !m.failed {
			objects, excepted = append(objects, &unstructured.Unstructured{Object: m.fields}), append(excepted, m.excepted)
		}
	}
	return objects, excepted
}

// judge reports what the objects of a profile do against the policy. What is listed was let through once.
func (r *renderer) judge(image string, rendered []*manifest) {
	if r.policy == nil {
		return
	}
	sound := slices.DeleteFunc(slices.Clone(rendered), func(m *manifest) bool { return m.fields == nil || m.failed })
	objects := make([]*unstructured.Unstructured, len(sound))
	for i, m := range sound {
		objects[i] = &unstructured.Unstructured{Object: m.fields}
	}
	for i, verdict := range r.policy.Check(image, objects) {
		if r.listed {
			sound[i].excepted = verdict.Broken()
			continue
		}
		sound[i].excepted = verdict.Excepted
		for _, breach := range verdict.Breaches {
			sound[i].failed = true
			problem := sound[i].at.problem(breach.Path, breach.Why)
			problem.Rule, problem.Object = breach.Rule, message.Shorten(policy.Name(objects[i]), 600) // as an exception has to call it
			sound[i].r.report(problem)
		}
	}
}

// document renders one document, and says how many bytes it comes to; one that is empty has no fields.
func (r *renderer) document(s selected, at place, text []byte) (m *manifest, bytes int) {
	m = &manifest{r: r, at: at}
	text, moved := r.expand(at, text)
	root := r.parse(at, text, moved)
	if root == nil {
		return m, 0
	}
	m.at.moved = moved
	d := decoder{report: m.reportLine, self: s.metadata.selfImageRef, image: s.Image}
	fields, ok := d.value(root).(map[string]any)
	if !ok {
		m.reportLine(root.Line, "", "the document must be a mapping that describes an object")
		return m, d.bytes
	}
	m.at = m.at.onLine(root.Line)
	m.fields = fields
	m.check()
	delete(fields, "status")
	if d.nulls {
		dropNulls(m.id.kind, "", fields)
	}
	m.refused(r.faultOf)
	if !m.failed {
		m.label(s.metadata.name)
	}
	return m, d.bytes
}

// manifest is a document that is being turned into an object.
type manifest struct {
	r        *renderer
	at       place
	fields   map[string]any // nil for an empty document
	metadata map[string]any // of fields
	id       identity
	failed   bool
	excepted []string // rules of the policy
}

func (m *manifest) report(path, format string, args ...any) {
	m.failed = true
	m.r.report(m.at.problem(path, fmt.Sprintf(format, args...)))
}

func (m *manifest) reportLine(line int, path, cause string) {
	m.failed = true
	m.r.report(m.at.onLine(line).problem(path, cause))
}

// check reports what every object must have and this one lacks.
func (m *manifest) check() {
	m.at.object = describe(m.fields)
	apiVersion := m.text(m.fields, "apiVersion", "apiVersion")
	kind := m.text(m.fields, "kind", "kind")
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		m.report("apiVersion", "%q is not of the form version or group/version", message.Shorten(apiVersion, 100))
	}
	if kind == "List" {
		m.report("kind", "a List is not an object: write its items as documents of their own")
		return
	}
	metadata, ok := m.fields["metadata"].(map[string]any)
	if !ok {
		m.report("metadata", "the object has no metadata")
		return
	}
	m.metadata = metadata
	m.id = identity{group: gv.Group, kind: kind, name: m.text(metadata, "name", "metadata.name")}
	if namespace := metadata["namespace"]; namespace != nil && namespace != "" {
		m.id.namespace = m.text(metadata, "namespace", "metadata.namespace")
	}
	m.checkMetadata()
}

func (m *manifest) checkMetadata() {
	for _, name := range []string{"labels", "annotations"} {
		path := "metadata." + name
		entries, ok := m.metadata[name].(map[string]any)
		if !ok && m.metadata[name] != nil {
			m.report(path, "must be a mapping of names to strings")
		}
		for key, value := range entries {
			if _, ok := value.(string); !ok && value != nil {
				m.report(path+"."+key, "must be a string: write it in quotes")
			}
		}
	}
}

// FaultOf says why whoever applies an object would refuse it, and at which
// field; empty if it can be applied.
type FaultOf func(object *unstructured.Unstructured) (path, cause string)

// refused asks whoever applies the object, once nothing else is wrong with it:
// by then the revision would be listed.
func (m *manifest) refused(faultOf FaultOf) {
	if m.failed || faultOf == nil {
		return
	}
	if path, cause := faultOf(&unstructured.Unstructured{Object: m.fields}); cause != "" {
		m.report(path, "%s", cause)
	}
}

// describe returns as much of `apiVersion kind namespace/name` as there is.
func describe(fields map[string]any) string {
	text := func(fields map[string]any, name string) string {
		value, ok := fields[name].(string)
		if !ok {
			return ""
		}
		return message.Shorten(value, 253)
	}
	metadata, ok := fields["metadata"].(map[string]any)
	if !ok {
		metadata = nil
	}
	words := []string{
		text(fields, "apiVersion"), text(fields, "kind"),
		strings.Trim(text(metadata, "namespace")+"/"+text(metadata, "name"), "/"),
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// text returns a field that must be a string and not empty.
func (m *manifest) text(fields map[string]any, name, path string) string {
	switch value := fields[name].(type) {
	case string:
		if value != "" {
			return value
		}
		m.report(path, "is empty")
	case nil:
		m.report(path, "is missing")
	default:
		m.report(path, "must be a string: write it in quotes")
	}
	return ""
}

func (m *manifest) label(component string) {
	labels, ok := m.metadata["labels"].(map[string]any)
	if !ok {
		labels = map[string]any{}
		m.metadata["labels"] = labels
	}
	labels[policy.ManagedByLabel] = component
	delete(labels, policy.ExceptedLabel)
}

// except writes on an object which rules it breaks, for those who see nothing but the object. It is no part of the content,
// which is the same whatever the rules are.
func except(o *unstructured.Unstructured, rules []string) {
	if len(rules) == 0 {
		return
	}
	labels := o.GetLabels()
	labels[policy.ExceptedLabel] = strings.Join(rules, ".")
	o.SetLabels(labels)
}

func (m *manifest) unique(seen map[identity]place) {
	if m.id.kind == "" || m.id.name == "" {
		return
	}
	first, twice := seen[m.id]
	switch {
	case !twice:
		seen[m.id] = m.at
	case first.image == m.at.image && first.profile == m.at.profile:
		m.report("", "the same object is in document %d, line %d of this file", first.document, first.line)
	default:
		m.report("", "the same object is in %s", first)
	}
}
