package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object renders one document of a component called core.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	p := manifests(text)
	p.Metadata = []byte("name: core\nselfImageRef: quay.io/self:1\n")
	return mustRender(t, Input{Profiles: []Profile{p}}).Components[0].Objects[0].Object
}

func TestObjects_are_labelled_cleaned_and_refer_to_their_image(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"the label joins the others": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {x: z}}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {x: z, capi-operator.openshift.io/managed-by: core}}}",
		},
		"empty lists and strings that only a cluster can fill are nothing": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a, uid: '', ownerReferences: []}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, uid: '', ownerReferences: [], labels: {capi-operator.openshift.io/managed-by: core}}}",
		},
		"the label takes the place of null labels": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: }}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core}}}",
		},
		"the label overwrites its own value": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: other}}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core}}}",
		},
		"status and fields without value are dropped": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a, creationTimestamp: null, namespace: null}, spec: {a: ~, b: [null, {c: null, d: 1}], status: {e: f}}, status: {g: h}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core}}, spec: {b: [null, {d: 1}], status: {e: f}}}",
		},
		"a null in a map of strings is an empty string": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {b: }}, data: {c: }, stringData: {d: }, type: }",
			"{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {b: ''}, labels: {capi-operator.openshift.io/managed-by: core}}, data: {c: ''}, stringData: {d: ''}}",
		},
		"a nodeSelector keeps its keys": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {nodeSelector: {role: }, data: {x: }}}}}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core}}, spec: {template: {spec: {nodeSelector: {role: ''}, data: {}}}}}",
		},
		"in a schema the name of a property means nothing": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {labels: {default: null, type: string}}}",
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core}}, spec: {labels: {type: string}}}",
		},
		"the image's own reference stands in every string but no key": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {image: 'quay.io/self:1', args: ['--image=quay.io/self:1,quay.io/self:1', \"quay.io/\\\n  self:1\"], 'quay.io/self:1': 1}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core}}, spec: {image: SELF, args: ['--image=SELF,SELF', SELF], 'quay.io/self:1': 1}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want map[string]any
			if err := yaml.Unmarshal([]byte(strings.ReplaceAll(c.want, "SELF", image("core"))), &want); err != nil {
				t.Fatal(err)
			}
			got := string(appendJSON(nil, object(t, c.in)))
			if diff := cmp.Diff(string(appendJSON(nil, integers(want))), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// integers makes the whole numbers of encoding/json those of unstructured.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		return int64(v)
	}
	return value
}

func TestObjects_empty_documents_are_skipped(t *testing.T) {
	rev := mustRender(t, Input{Profiles: []Profile{manifests("---\n# comment\n---\nnull\n---\n" + configMap("a") + "---\n\n...\n---\n~\n---\n--- # end\n")}})
	if got := len(rev.Components[0].Objects); got != 1 {
		t.Errorf("want one object, got %d", got)
	}
	if rev := mustRender(t, Input{Profiles: []Profile{manifests("")}}); len(rev.Components) != 1 {
		t.Errorf("want a component without objects, got %+v", rev)
	}
}

func TestObjects_what_is_not_an_object_is_reported_with_place_and_path(t *testing.T) {
	faultOf := func(object *unstructured.Unstructured) (path, cause string) {
		if object.GetName() == "refused" {
			return "metadata.name", "is not liked"
		}
		return "", ""
	}
	for text, want := range map[string]string{
		"{kind: Pod, metadata: {name: a}}":                                       "2 Pod a apiVersion is missing",
		"{apiVersion: v1, metadata: {name: a}}":                                  "2 v1 a kind is missing",
		"{apiVersion: 1, kind: Pod, metadata: {name: a}}":                        "2 Pod a apiVersion must be a string: write it in quotes",
		"{apiVersion: a/b/c, kind: Pod, metadata: {name: a}}":                    `2 a/b/c Pod a apiVersion "a/b/c" is not of the form version or group/version`,
		"{apiVersion: v1, kind: Pod}":                                            "2 v1 Pod metadata the object has no metadata",
		"{apiVersion: v1, kind: Pod, metadata: a}":                               "2 v1 Pod metadata the object has no metadata",
		"{apiVersion: v1, kind: Pod, metadata: {labels: {}}}":                    "2 v1 Pod metadata.name is missing",
		"{apiVersion: v1, kind: Pod, metadata: {name: ''}}":                      "2 v1 Pod metadata.name is empty",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: 1}}":         "2 v1 Pod a metadata.namespace must be a string: write it in quotes",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: [b]}}":          "2 v1 Pod a metadata.labels must be a mapping of names to strings",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {b: yes}}}":     "2 v1 Pod a metadata.labels.b must be a string: write it in quotes",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: b}}":       "2 v1 Pod a metadata.annotations must be a mapping of names to strings",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {b: 1}}}":  "2 v1 Pod a metadata.annotations.b must be a string: write it in quotes",
		"{apiVersion: v1, kind: Pod, metadata: {name: refused, labels: {b: c}}}": "2 v1 Pod refused metadata.name is not liked",
		"{apiVersion: v1, kind: Pod, metadata: {name: refused, labels: {b: 1}}}": "2 v1 Pod refused metadata.labels.b must be a string: write it in quotes",
		"{apiVersion: v1, kind: List, items: []}":                                "2 v1 List kind a List is not an object: write its items as documents of their own",
		"- a":  "2   the document must be a mapping that describes an object",
		"text": "2   the document must be a mapping that describes an object",
		"apiVersion: v1\nkind: Pod\nkind: Job\nmetadata:\n  name: a\n":       "4  kind the field is given twice in one mapping",
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: !foo {a: b}": "6  spec the tag !foo is not supported",
	} {
		found := problems(t, Input{Profiles: []Profile{manifests("---\n" + text)}, FaultOf: faultOf})
		p := found[0]
		got := strings.TrimSpace(fmt.Sprintf("%d %s %s %s", p.Line, p.Object, p.Path, p.Cause))
		if got != want || len(found) != 1 {
			t.Errorf("%s: want %q, got %q, all %v", text, want, got, found)
		}
		if p.File != manifestsFile || p.Document != 1 || p.Image != image("core") || p.Profile != "default" {
			t.Errorf("%s: the place is incomplete: %+v", text, p)
		}
	}
}
