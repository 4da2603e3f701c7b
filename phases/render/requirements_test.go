package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

const thingsCRD = "things.test.cluster.x-k8s.io"

// crd is a definition of things, with another field of its metadata.
func crd(metadata string) string { return crdNamed(thingsCRD, metadata) }

func crdNamed(name, metadata string) string {
	plural, group, _ := strings.Cut(name, ".")
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %s
%sspec:
  group: %s
  scope: Namespaced
  names: {plural: %s, kind: Thing}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {deprecated: {type: object}}}}}}}
  - {name: v1beta2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {deprecated: {type: object}}}}}}}
  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`, name, metadata, group, plural)
}

func annotated(with string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {capi-operator.openshift.io/requires-crd-versions: %q}\n", with)
}

func unmanagedInput(texts ...string) Input {
	return Input{Profiles: []Profile{manifests(strings.Join(texts, "---\n"))}, Unmanaged: []string{thingsCRD}, Namespace: "capi"}
}

// derivedOf are the requirements of a revision, on the shape and on the objects of its definitions.
func derivedOf(rev *Revision) (shapes, objects []*unstructured.Unstructured) {
	for _, c := range rev.Components {
		for _, o := range c.Objects {
			if _, derived := Derived(o.GetName()); derived {
				objects = append(objects, o)
			}
		}
	}
	return rev.Shapes, objects
}

func TestRequirements_of_an_unmanaged_definition(t *testing.T) {
	rev := mustRender(t, unmanagedInput(crd(""), annotated("v1beta1/"+thingsCRD+", v1/machines.cluster.x-k8s.io")))
	shapes, objects := derivedOf(rev)
	if len(shapes) != 1 || len(objects) != 1 {
		t.Fatalf("%d shapes and %d of objects", len(shapes), len(objects))
	}
	spec, _, _ := unstructured.NestedMap(shapes[0].Object, "spec")
	sum := sha256.Sum256(appendJSON(nil, spec))
	if want := "capstan-shape." + thingsCRD + "." + hex.EncodeToString(sum[:])[:8]; shapes[0].GetName() != want {
		t.Errorf("the shape's is called %s, not %s", shapes[0].GetName(), want)
	}
	if want := "capstan-objects." + thingsCRD; objects[0].GetName() != want {
		t.Errorf("the objects' is called %s, not %s", objects[0].GetName(), want)
	}
	data, _, _ := unstructured.NestedString(spec, "compatibilitySchema", "customResourceDefinition", "data")
	var held, rendered map[string]any
	if err := yaml.UnmarshalStrict([]byte(data), &held); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(crd("")), &rendered); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rendered, held); diff != "" {
		t.Errorf("the definition (-rendered +held):\n%s", diff)
	}
	schema := spec["compatibilitySchema"].(map[string]any)
	delete(schema, "customResourceDefinition")
	wantSchema := map[string]any{
		"requiredVersions": map[string]any{"defaultSelection": "StorageOnly", "additionalVersions": []any{"v1beta1"}},
		"excludedFields":   []any{map[string]any{"path": "status.deprecated", "versions": []any{"v1beta1", "v1beta2"}}},
	}
	want := map[string]any{"compatibilitySchema": wantSchema, "customResourceDefinitionSchemaValidation": map[string]any{"action": "Deny"}}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("of the shape (-want +got):\n%s", diff)
	}
	spec, _, _ = unstructured.NestedMap(objects[0].Object, "spec")
	delete(spec["compatibilitySchema"].(map[string]any), "customResourceDefinition")
	want = map[string]any{"compatibilitySchema": wantSchema, "objectSchemaValidation": map[string]any{
		"action": "Deny", "namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "capi"}},
	}}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("of the objects (-want +got):\n%s", diff)
	}
	for _, o := range []*unstructured.Unstructured{shapes[0], objects[0]} {
		if about := o.GetAnnotations()[DefinitionAnnotation]; about != thingsCRD {
			t.Errorf("%s is about %q", o.GetName(), about)
		}
	}
	if component := objects[0].GetLabels()[policy.ManagedByLabel]; component != rev.Components[0].Name {
		t.Errorf("%s is of component %s", objects[0].GetName(), component)
	}
}

func TestRequirements_only_the_storage_version_where_nothing_else_is_asked_for(t *testing.T) {
	rev := mustRender(t, unmanagedInput(crd("")))
	asked, _, _ := unstructured.NestedMap(rev.Shapes[0].Object, "spec", "compatibilitySchema")
	delete(asked, "customResourceDefinition")
	want := map[string]any{
		"requiredVersions": map[string]any{"defaultSelection": "StorageOnly"},
		"excludedFields":   []any{map[string]any{"path": "status.deprecated", "versions": []any{"v1beta2"}}},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

func TestRequirements_none_on_objects_of_the_cluster(t *testing.T) {
	_, objects := derivedOf(mustRender(t, unmanagedInput(strings.Replace(crd(""), "Namespaced", "Cluster", 1))))
	if len(objects) != 0 {
		t.Errorf("there is %s", objects[0].GetName())
	}
}

func TestRequirements_names_that_nothing_renders_change_nothing(t *testing.T) {
	in := unmanagedInput(crd(""))
	in.Unmanaged = nil
	before := mustRender(t, in)
	in.Unmanaged = []string{"others.test.cluster.x-k8s.io", "another.test.cluster.x-k8s.io"}
	rev := mustRender(t, in)
	if rev.ContentID != before.ContentID || rev.Unmanaged != nil || len(rev.Shapes) != 0 {
		t.Errorf("it is another revision: %+v", rev)
	}
	if diff := cmp.Diff([]string{"another.test.cluster.x-k8s.io", "others.test.cluster.x-k8s.io"}, rev.Nowhere); diff != "" {
		t.Errorf("what is told of them: %s", diff)
	}
}

func TestRequirements_what_is_needed_counts_in_the_content(t *testing.T) {
	in := unmanagedInput(crd(""))
	is := map[string]string{}
	for name, texts := range map[string][]string{
		"as it is": {crd("")}, "another field": {strings.Replace(crd(""), "{type: object}", "{type: string}", 1)}, "another version": {crd(""), annotated("v1beta1/" + thingsCRD)},
	} {
		in.Profiles = unmanagedInput(texts...).Profiles
		rev := mustRender(t, in)
		if other := is[rev.Shapes[0].GetName()]; other != "" {
			t.Errorf("%s and %s have one requirement", name, other)
		}
		is[rev.Shapes[0].GetName()] = name
	}
	in.Profiles = unmanagedInput(crd("")).Profiles
	here := mustRender(t, in)
	in.Namespace = "elsewhere"
	if there := mustRender(t, in); there.ContentID == here.ContentID {
		t.Error("another namespace is no other content")
	}
	in.Namespace = "capi"
	listed, err := Listed(in, []ComponentRef{{in.Profiles[0].Image, in.Profiles[0].Name}})
	if err != nil || listed.ContentID != here.ContentID {
		t.Errorf("listed, it renders to %v (%v)", listed, err)
	}
}

func TestRequirements_of_versions_that_cannot_be(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "is not of the form",
		"v1beta1":                    "is not of the form",
		"v1beta1/" + thingsCRD + ",": "is not of the form",
		"V1/" + thingsCRD:            "is not of the form",
		"v1/A.b":                     "is not of the form",
		"v1beta1/" + thingsCRD + " v1/" + thingsCRD: "is not of the form",
		"v7/" + thingsCRD: "CustomResourceDefinition " + thingsCRD + " has no version v7",
	} {
		t.Run(text, func(t *testing.T) {
			found := problems(t, unmanagedInput(crd(""), annotated(text)))
			if len(found) != 1 || !strings.Contains(found[0].Cause, want) || found[0].Path != "metadata.annotations[capi-operator.openshift.io/requires-crd-versions]" || found[0].Document != 2 {
				t.Errorf("want %q, got %v", want, found)
			}
		})
	}
	in := unmanagedInput(crd(""), annotated("v7/"+thingsCRD))
	in.Unmanaged = nil
	mustRender(t, in) // a version of what is managed comes with it
}

func TestRequirements_of_a_definition_that_none_can_hold(t *testing.T) {
	in := unmanagedInput(annotated("v1beta1/"+thingsCRD), crd("  annotations: {a: '"+strings.Repeat(`"`, maxObject/3)+"'}\n"))
	found := problems(t, in)
	if len(found) != 2 || found[0].Document != 2 || found[1].Document != 2 {
		t.Fatalf("found is %v", found)
	}
	if both := found[0].Cause + found[1].Cause; !strings.Contains(both, "CompatibilityRequirement capstan-shape."+thingsCRD) || !strings.Contains(both, "capstan-objects."+thingsCRD) {
		t.Errorf("found is %v", found)
	}
	in.Unmanaged = nil
	mustRender(t, in) // what is managed needs no requirement
}

func TestRequirements_are_of_no_definition_that_the_checker_would_refuse(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"two stored versions":     {"v1beta1, served: true, storage: false", "v1beta1, served: true, storage: true", "exactly one version must have storage: true, and 2 have it"},
		"another name than it is": {"plural: things", "plural: thongs", `must be "thongs.test.cluster.x-k8s.io"`},
		"an unknown field":        {"scope: Namespaced", "scope: Namespaced\n  scoop: a", `unknown field "spec.scoop"`},
		"no structural schema":    {"storage: true, schema: {openAPIV3Schema: {type: object, ", "storage: true, schema: {openAPIV3Schema: {", "spec.versions[1].schema.openAPIV3Schema.type"},
	} {
		t.Run(name, func(t *testing.T) {
			in := unmanagedInput(strings.Replace(crd(""), c.from, c.to, 1))
			found := problems(t, in)
			for _, p := range found {
				if p.Document != 1 || !strings.HasPrefix(p.Cause, "it is listed as unmanaged, and a CompatibilityRequirement with it would be refused: ") {
					t.Errorf("found is %v", p)
				}
			}
			if len(found) == 0 || !strings.Contains(found[0].Cause, c.want) {
				t.Errorf("found is %v", found)
			}
		})
	}
}

func TestRequirements_take_no_name_from_images(t *testing.T) {
	taken := mustRender(t, unmanagedInput(crd(""))).Shapes[0].GetName()
	for _, name := range []string{taken, "capstan-objects." + thingsCRD} {
		found := problems(t, unmanagedInput(crd(""), "apiVersion: apiextensions.openshift.io/v1alpha1\nkind: CompatibilityRequirement\nmetadata: {name: "+name+"}\n"))
		if len(found) != 1 || found[0].Document != 2 || found[0].Path != "metadata.name" {
			t.Errorf("of %s it says %v", name, found)
		}
	}
}

func TestRequirements_hold_nothing_of_ours(t *testing.T) {
	before := mustRender(t, unmanagedInput(crd("")))
	in := unmanagedInput(crd("  labels: {capi-operator.openshift.io/managed-by: me, mine: too}\n"))
	data, _, _ := unstructured.NestedString(mustRender(t, in).Shapes[0].Object, "spec", "compatibilitySchema", "customResourceDefinition", "data")
	if strings.Contains(data, "managed-by") || !strings.Contains(data, `"labels":{"mine":"too"}`) {
		t.Errorf("it holds %s", data)
	}
	for _, o := range before.Components[0].Objects {
		if o.GetKind() == "CustomResourceDefinition" && o.GetLabels()[policy.ManagedByLabel] == "" {
			t.Error("the rendered definition has lost its label")
		}
	}
}

func TestRequirements_names_are_valid_stable_and_distinct(t *testing.T) {
	group := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?){1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		crds := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			name := rapid.SampledFrom([]string{"", "capstan-shape.", "long."}).Draw(t, "before") + group.Draw(t, "name")
			return strings.TrimRight(name[:min(len(name), 253)], "-.")
		}), 2, 6, rapid.ID).Draw(t, "definitions")
		seen := map[string]string{}
		for _, name := range crds {
			for _, needed := range []string{shapeName(name, map[string]any{"a": "b"}), shapeName(name, map[string]any{"a": "c"}), objectsName(name)} {
				if causes := validation.IsDNS1123Subdomain(needed); len(causes) > 0 {
					t.Fatalf("%s: %v", needed, causes)
				}
				if other, taken := seen[needed]; taken {
					t.Fatalf("%s is of %s and of %s", needed, other, name)
				}
				shape, derived := Derived(needed)
				if !derived || shape != strings.HasPrefix(needed, "capstan-shape") {
					t.Fatalf("%s is taken for another's", needed)
				}
				seen[needed] = name
			}
		}
	})
}
