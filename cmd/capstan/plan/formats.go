package plan

import (
	"fmt"
	"io"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/engine"
)

// WriteNames prints a line for each object, in the order of doing.
func (p *Plan) WriteNames(out io.Writer) error {
	var text strings.Builder
	for _, w := range p.Waves {
		for _, o := range w.Objects {
			text.WriteString(o.line())
		}
	}
	for _, o := range p.Removals {
		text.WriteString(o.line())
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// line is an object as kubectl takes it; a kind of which no resource is known stands for itself.
func (o Object) line() string {
	resource := o.Object.Resource
	if resource == "" {
		resource = strings.ToLower(o.Object.Kind)
	}
	if o.Object.Group != "" {
		resource += "." + o.Object.Group
	}
	text := fmt.Sprintf("%s %s/%s", o.Verdict, resource, o.Object.Name)
	if o.Object.Namespace != "" {
		text += " -n " + o.Object.Namespace
	}
	return message.Line(text) + "\n"
}

// WriteDiff prints what changes of objects as unified differences of their YAML.
func (p *Plan) WriteDiff(out io.Writer) error {
	if p.forecast == nil {
		return nil
	}
	for _, w := range p.forecast.Waves {
		for _, o := range w.Objects {
			if err := writeDiff(out, o); err != nil {
				return err
			}
		}
	}
	for _, o := range p.forecast.Removals {
		if err := writeDiff(out, o); err != nil {
			return err
		}
	}
	return nil
}

// nothing is the file that diffs are made with of what is not there.
const nothing = "/dev/null"

func writeDiff(out io.Writer, o *engine.Foreseen) error {
	name := Object{Object: refOf(o), Verdict: o.Outlook}.line()
	_, name, _ = strings.Cut(strings.TrimSpace(name), " ")
	diff := difflib.UnifiedDiff{Context: 3, FromFile: "is/" + name, ToFile: "would/" + name}
	before, after := o.Before, o.After
	switch o.Outlook {
	case engine.WouldCreate:
		diff.FromFile, before = nothing, nil
	case engine.WouldChange, engine.WouldReplace:
	case engine.WouldRemove:
		diff.ToFile, after = nothing, nil
	default:
		return nil
	}
	if before == nil && after == nil {
		_, err := fmt.Fprintf(out, "# %s %s (%s), which is not shown: %s\n", o.Outlook, name, o.How, message.Line(o.Why))
		return err
	}
	var err error
	if diff.A, err = shown(before, nil); err != nil {
		return err
	}
	if diff.B, err = shown(after, before); err != nil {
		return err
	}
	text, err := difflib.GetUnifiedDiffString(diff)
	if err != nil {
		return fmt.Errorf("comparing %s: %w", name, err)
	}
	_, err = io.WriteString(out, message.Lines(text))
	return err
}

// shown are the lines of an object; of a Secret only the names of its keys, and which of them differ in the other copy.
func shown(o, other *unstructured.Unstructured) ([]string, error) {
	if o == nil {
		return nil, nil
	}
	o = engine.Told(o)
	if o.GetKind() == "Secret" && o.GetAPIVersion() == "v1" {
		o = hidden(o, other)
	}
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return nil, fmt.Errorf("writing %s %s as YAML: %w", o.GetKind(), o.GetName(), err)
	}
	return difflib.SplitLines(strings.TrimSuffix(string(text), "\n")), nil
}

func hidden(o, other *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	for _, field := range []string{"data", "stringData"} {
		keys, _, _ := unstructured.NestedMap(o.Object, field)
		for key, is := range keys {
			keys[key] = "(hidden)"
			if other == nil {
				continue
			}
			if was, _, _ := unstructured.NestedFieldNoCopy(other.Object, field, key); was != is {
				keys[key] = "(hidden, and another one)"
			}
		}
		if len(keys) > 0 {
			o.Object[field] = keys
		}
	}
	name, namespace := o.GetName(), o.GetNamespace()
	delete(o.Object, "metadata") // annotations may quote all of it
	o.SetName(name)
	o.SetNamespace(namespace)
	return o
}
