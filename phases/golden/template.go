package golden

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/message"
)

// infrastructureGroup is the API group of templates.
const infrastructureGroup = "infrastructure.cluster.x-k8s.io"

// templateKind is a kind of template for which there are rules.
type templateKind struct {
	see func(*look, map[string]any) (sight, error)
	// image is where the spec of its machines names the image.
	image []string
}

var templateKinds = map[string]templateKind{
	"AWSMachineTemplate": {see: (*look).awsTemplate, image: []string{"ami", "id"}},
	"GCPMachineTemplate": {see: (*look).gcpTemplate, image: []string{"image"}},
}

// template looks at the infrastructure template of a target of Cluster API.
func (l *look) template() (sight, error) {
	name, kind, err := l.target.reference()
	if err != nil {
		return sight{}, err
	}
	rules, supported := templateKinds[kind]
	if !supported {
		return sight{}, &skipError{reason: Unsupported, text: fmt.Sprintf("there are no boot images for templates of kind %q", message.Shorten(kind, maxTold))}
	}
	template := l.target.Template
	if template == nil {
		return sight{}, fmt.Errorf("there is no %s %q", kind, message.Shorten(name, maxTold))
	}
	if template.GetKind() != kind || template.GetName() != name {
		return sight{}, fmt.Errorf("%s %q was looked at instead of %s %q", template.GetKind(), template.GetName(), kind, name)
	}
	machine, err := machineOf(template.Object)
	if err != nil {
		return sight{}, err
	}
	return rules.see(l, machine)
}

// reference is the name and kind of the template that the target names. A kind of another group is none that has rules.
func (t *Target) reference() (name, kind string, err error) {
	ref := t.InfrastructureRef
	name, _, nameErr := unstructured.NestedString(ref, "name")
	kind, _, kindErr := unstructured.NestedString(ref, "kind")
	group, _, groupErr := unstructured.NestedString(ref, "apiGroup")
	version, _, versionErr := unstructured.NestedString(ref, "apiVersion")
	if err := errors.Join(nameErr, kindErr, groupErr, versionErr); err != nil {
		return "", "", fmt.Errorf("reading infrastructureRef: %w", err)
	}
	if name == "" || kind == "" {
		return "", "", errors.New("infrastructureRef names no template")
	}
	if group == "" {
		group, _, _ = strings.Cut(version, "/")
	}
	if group != infrastructureGroup {
		kind += "." + group
	}
	return name, kind, nil
}

// machineOf is the spec of the machines that a template makes.
func machineOf(template map[string]any) (map[string]any, error) {
	found, _, err := unstructured.NestedFieldNoCopy(template, "spec", "template", "spec")
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	machine, ok := found.(map[string]any)
	if !ok || len(machine) == 0 {
		return nil, errors.New("the template has no spec of machines")
	}
	return machine, nil
}

// withImage is a template's spec with another image and nothing else changed. It shares with the template what does not lead to the image.
func withImage(template *unstructured.Unstructured, field []string, image string) (map[string]any, error) {
	found, ok := template.Object["spec"].(map[string]any)
	if !ok {
		return nil, errors.New("the template has no spec")
	}
	spec := maps.Clone(found)
	at, path := spec, append([]string{"template", "spec"}, field...)
	last := len(path) - 1
	for _, key := range path[:last] {
		below, is := at[key].(map[string]any)
		if _, there := at[key]; there && !is {
			return nil, fmt.Errorf("writing the image into the template: %s is no object", key)
		}
		if below = maps.Clone(below); below == nil {
			below = map[string]any{}
		}
		at[key] = below
		at = below
	}
	at[path[last]] = image
	return spec, nil
}

// repoint adds to a verdict the clone that has the wanted image, and the edit that names it.
func (t *Target) repoint(v Verdict) (Verdict, error) {
	spec, err := withImage(t.Template, templateKinds[t.Template.GetKind()].image, v.Wanted)
	if err != nil {
		return v, err
	}
	name, err := cloneName(t.Name, spec)
	if err != nil {
		return v, err
	}
	v.CloneName, v.CloneSpec = name, spec
	v.Patch = append(v.Patch, test(t.path(), t.InfrastructureRef), set(t.path("name"), name))
	return v, nil
}
