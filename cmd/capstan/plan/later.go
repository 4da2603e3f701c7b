package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
	"github.com/capstan-capi/capstan/phases/engine"
)

// judgeLater judges what could not be tried because its schema comes with the revision by that schema itself, as the API server
// will: what that refuses is denied, however early it is.
func judgeLater(ctx context.Context, f *engine.Forecast) {
	definitions := map[schema.GroupKind]*engine.Foreseen{}
	for _, w := range f.Waves {
		for _, o := range w.Objects {
			if o.Key.Kind == "CustomResourceDefinition" && o.After != nil {
				group, _, _ := unstructured.NestedString(o.After.Object, "spec", "group")
				kind, _, _ := unstructured.NestedString(o.After.Object, "spec", "names", "kind")
				definitions[schema.GroupKind{Group: group, Kind: kind}] = o
			}
			definition := definitions[o.Key.GVK().GroupKind()]
			if o.How != engine.Later || o.After == nil || definition == nil {
				continue
			}
			if refused := refusedBy(ctx, definition.After, o.After, o.Key.Version); refused != "" {
				o.Outlook, o.Why = engine.WouldDeny, fmt.Sprintf("by %s as the revision has it: %s", definition.Key, refused)
			}
		}
	}
}

// refusedAtMost is how many reasons are told.
const refusedAtMost = 3

// refusedBy says what the API server would refuse of an object by a definition; empty for nothing, or if that cannot be told.
func refusedBy(ctx context.Context, definition, object *unstructured.Unstructured, version string) string {
	text, err := json.Marshal(engine.Told(definition).Object)
	if err != nil {
		return ""
	}
	spec := &requirementsv1alpha1.CompatibilityRequirementSpec{}
	spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: string(text)}
	spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeAllServed
	need, err := crdschema.Decode(spec)
	if err != nil {
		return ""
	}
	by, err := judge.Compile(need, version)
	if err != nil {
		return ""
	}
	var refused []string
	for _, problem := range by.Validate(ctx, object, nil, "") {
		refused = append(refused, problem.Error())
	}
	for _, path := range by.Prune(object.Object, nil, nil, "") {
		refused = append(refused, path+": there is no such field")
	}
	if more := len(refused) - refusedAtMost; more > 0 {
		refused = append(refused[:refusedAtMost], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(refused, "; ")
}
