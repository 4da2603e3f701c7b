package plan

import (
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// judgeRequirements compares what the revision would newly require of definitions that others have with these as they are, as the
// checker does once a requirement is there.
func judgeRequirements(f *engine.Forecast) {
	for _, w := range f.Waves {
		for _, o := range w.Objects {
			shape, _ := render.Derived(o.Key.Name)
			if o.Key.Kind != "CompatibilityRequirement" || !shape || o.After == nil || o.Outlook != engine.WouldCreate && o.Outlook != engine.WouldChange {
				continue
			}
			name := o.After.GetAnnotations()[render.DefinitionAnnotation]
			live, looked := f.Definitions[name]
			if !looked {
				continue // what could not be read is told already
			}
			if why := unmet(o.After, name, live); why != "" {
				o.StuckBy, o.Stuck = engine.StuckRequirements, why
			}
		}
	}
}

// toldAtMost bounds in bytes what is told of a definition.
const toldAtMost = 600

// unmet says why a requirement would not be met by a definition, nil for none; empty if it would.
func unmet(requirement *unstructured.Unstructured, name string, live *unstructured.Unstructured) string {
	if live == nil {
		return "CustomResourceDefinition " + name + " is left to others, and nobody has installed it"
	}
	asked, crd := &requirementsv1alpha1.CompatibilityRequirement{}, &apiextensionsv1.CustomResourceDefinition{}
	for from, into := range map[*unstructured.Unstructured]any{requirement: asked, live: crd} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into); err != nil {
			return "it cannot be compared with CustomResourceDefinition " + name + ": " + err.Error()
		}
	}
	need, err := crdschema.Decode(&asked.Spec)
	if err != nil {
		return "it would be refused: " + err.Error()
	}
	missing := need.Compare(crd).Missing
	if len(missing) == 0 {
		return ""
	}
	return "CustomResourceDefinition " + name + ", which is left to others, lacks what the release needs: " + strings.TrimSpace(crdschema.Text(missing, toldAtMost))
}
