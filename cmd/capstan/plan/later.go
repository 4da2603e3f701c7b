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

// writes are the outlooks of a definition with which its schema may be another one than a dry run was judged by.
var writes = map[engine.Outlook]bool{engine.WouldCreate: true, engine.WouldChange: true, engine.WouldReplace: true}

// judgeLater judges what could not be tried because its schema comes with the revision by that schema itself, as the API server
// will: what that refuses is denied, however early it is. What was tried by a schema that stays is left as it was.
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
			if o.How != engine.Later || o.After == nil || definition == nil || !writes[definition.Outlook] {
				continue
			}
			if refused := refusedBy(ctx, definition.After, o, o.Key.Version); refused != "" {
				why := fmt.Sprintf("by %s as the revision has it: %s", definition.Key, refused)
				o.Outlook, o.Why = engine.WouldDeny, strings.TrimSuffix(why+"; "+o.Why, "; ")
			}
		}
	}
}

// refusedAtMost is how many reasons are told.
const refusedAtMost = 3

// refusedBy says what the API server would refuse of an object by a definition; empty for nothing, or if that cannot be told.
func refusedBy(ctx context.Context, definition *unstructured.Unstructured, o *engine.Foreseen, version string) string {
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
	before := o.Before // what an update leaves as it was may be against the schema
	if o.Outlook == engine.WouldReplace {
		before = nil
	}
	for _, problem := range by.Validate(ctx, o.After, before, "") {
		refused = append(refused, problem.Error())
	}
	for _, path := range by.Prune(o.After.Object, nil, nil, "") {
		refused = append(refused, path+": there is no such field")
	}
	if more := len(refused) - refusedAtMost; more > 0 {
		refused = append(refused[:refusedAtMost], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(refused, "; ")
}
