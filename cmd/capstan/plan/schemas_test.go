package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

const things = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {FIELDS}}}}}
`

func tree(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	json, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = o.UnmarshalJSON(json)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func definition(t *testing.T, fields string) *unstructured.Unstructured {
	t.Helper()
	return tree(t, strings.ReplaceAll(things, "FIELDS", fields))
}

func TestPlan_judges_what_comes_with_its_definition_by_that(t *testing.T) {
	for spec, want := range map[string]string{
		"{count: 1}":          "",
		"{count: many}":       "spec.count",
		"{count: 1, more: x}": "more: there is no such field",
	} {
		crd := foreseen("CustomResourceDefinition", "things.example.com", engine.WouldCreate, engine.Tried)
		crd.Key.Group, crd.After = "apiextensions.k8s.io", definition(t, "count: {type: integer}")
		thing := foreseen("Thing", "a", engine.WouldCreate, engine.Later)
		thing.Key.Group = "example.com"
		thing.After = tree(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: here}, spec: "+spec+"}")
		p := planOf(t, false, crd, thing)
		told := p.Waves[0].Objects[1]
		if denied := told.Verdict == engine.WouldDeny; denied != (want != "") || !strings.Contains(told.Why, want) {
			t.Errorf("%s: %s, %s", spec, told.Verdict, told.Why)
		}
	}
}

func TestPlan_leaves_what_was_tried_by_a_schema_that_stays(t *testing.T) {
	for outlook, denied := range map[engine.Outlook]bool{engine.WouldMark: false, engine.WouldLeave: false, engine.WouldChange: true} {
		crd := foreseen("CustomResourceDefinition", "things.example.com", outlook, engine.Tried)
		crd.Key.Group, crd.After = "apiextensions.k8s.io", definition(t, "count: {type: integer}")
		thing := foreseen("Thing", "a", engine.WouldCreate, engine.Later)
		thing.Key.Group, thing.Why = "example.com", "webhook a of things, which has a say in it, comes in wave 2"
		thing.After = tree(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: here}, spec: {count: many}}")
		told := planOf(t, false, crd, thing).Waves[0].Objects[1]
		if (told.Verdict == engine.WouldDeny) != denied || !strings.Contains(told.Why, thing.Why) {
			t.Errorf("with a definition that %s: %s, %s", outlook, told.Verdict, told.Why)
		}
	}
}

func TestPlan_lets_stay_what_an_update_does_not_touch(t *testing.T) {
	crd := foreseen("CustomResourceDefinition", "things.example.com", engine.WouldChange, engine.Tried)
	crd.Key.Group, crd.After = "apiextensions.k8s.io", definition(t, "name: {type: string, maxLength: 2}, more: {type: string}")
	thing := foreseen("Thing", "a", engine.WouldChange, engine.Later)
	thing.Key.Group = "example.com"
	thing.Before = tree(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: here, resourceVersion: '1'}, spec: {name: long}}")
	thing.After = tree(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: here, resourceVersion: '1'}, spec: {name: long, more: x}}")
	if told := planOf(t, false, crd, thing).Waves[0].Objects[1]; told.Verdict != engine.WouldChange {
		t.Errorf("%s: %s", told.Verdict, told.Why)
	}
}

func TestPlan_compares_what_is_required_of_others_with_what_they_have(t *testing.T) {
	needs := func() *engine.Foreseen {
		o := foreseen("CompatibilityRequirement", "capstan-shape.things.example.com.12345678", engine.WouldCreate, engine.Tried)
		o.Key.Group, o.Key.Namespace = "apiextensions.openshift.io", ""
		o.After = tree(t, `{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement, metadata: {name: x}, spec: {compatibilitySchema: {
			customResourceDefinition: {type: YAML}, requiredVersions: {defaultSelection: StorageOnly}}}}`)
		o.After.SetAnnotations(map[string]string{render.DefinitionAnnotation: "things.example.com"})
		text, err := yaml.Marshal(definition(t, "count: {type: integer}").Object)
		if err == nil {
			err = unstructured.SetNestedField(o.After.Object, string(text), "spec", "compatibilitySchema", "customResourceDefinition", "data")
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for name, c := range map[string]struct {
		live *unstructured.Unstructured
		want string
	}{
		"as it is needed": {definition(t, "count: {type: integer}, more: {type: string}"), ""},
		"narrower":        {definition(t, "more: {type: string}"), "spec.count"},
		"not there":       {nil, "nobody has installed it"},
	} {
		o := needs()
		judgeRequirements(&engine.Forecast{
			Waves: []engine.ForeseenWave{{Objects: []*engine.Foreseen{o}}}, Definitions: map[string]*unstructured.Unstructured{"things.example.com": c.live},
		})
		if (o.Stuck != "") != (c.want != "") || !strings.Contains(o.Stuck, c.want) {
			t.Errorf("%s: %q", name, o.Stuck)
		}
	}
}
