package policy

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AdoptAnnotation asks to take over an object that is there; see decide.AdoptAnnotation of the engine.
const AdoptAnnotation = "capi-operator.openshift.io/adopt-existing"

var adoptionRule = Rule{
	Name: "adoption",
	Doc: "An object that exists is taken over, by " + AdoptAnnotation + ", only in the providers' namespaces, or if it is such a namespace, and never from " +
		"its controller. A definition never is: one of somebody else is left to its owner by spec.unmanagedCustomResourceDefinitions of the ClusterAPI.",
	breaches: func(c check) []Breach {
		mode, asked := c.object.GetAnnotations()[AdoptAnnotation]
		path := "metadata.annotations." + AdoptAnnotation
		switch {
		case !asked:
			return nil
		case mode == "force":
			return []Breach{{Path: path, Why: "an image may not take objects from their controllers"}}
		case !c.adoptable():
			return []Breach{{Path: path, Why: "what exists under this name may be somebody else's, with any right: only what is in " + strings.Join(c.Namespaces, ", ") + ", and these Namespaces may be taken over"}}
		}
		return nil
	},
	expression: func(p *Policy) string {
		return fill(`!($adopt in object.metadata.?annotations.orValue({})) ||
object.metadata.annotations[$adopt] != 'force' && (
  variables.kind == '/Namespace' ? object.metadata.name in $ours :
  object.metadata.?namespace.orValue('') in $ours) ||
variables.stored.?metadata.?annotations[?$adopt] == optional.of(object.metadata.annotations[$adopt])`,
			"$adopt", text(AdoptAnnotation), "$ours", list(p.Namespaces))
	},
}

// MayAdopt says whether an image might ask to take over an object of a kind, group/Kind, of this name.
func (p *Policy) MayAdopt(kind, namespace, name string) bool {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetNamespace(namespace)
	object.SetName(name)
	return check{Policy: p, object: object, kind: kind}.adoptable()
}

// adoptable says that an object of this name can only have been made for providers.
func (c check) adoptable() bool {
	switch namespace := c.object.GetNamespace(); {
	case c.is("/Namespace"):
		return slices.Contains(c.Namespaces, c.object.GetName())
	default:
		namespaced, known := Kinds[c.kind]
		return (namespaced || !known) && slices.Contains(c.Namespaces, namespace)
	}
}
