package policy_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kadmission "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

func TestTheSecondWall_lets_anybody_write_a_guarded_ConfigMap_as_it_is_and_nobody_change_it(t *testing.T) {
	for name, wall := range map[string]*admissiontest.Policy{
		"capstan-inventory-7": second(t, "capstan-bookkeeping"), "capi-installer-images": second(t, "capstan-release"),
	} {
		old := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ours, name: "+name+", resourceVersion: '1', labels: {a: b}}, data: {a: b}}")[0]
		ask := func(what string, refused bool, path ...string) {
			object := old.DeepCopy()
			var value any = map[string]any{"a": "c"}
			switch path[len(path)-1] {
			case "immutable":
				value = true
			case "finalizers":
				value = []any{"a/b"}
			case "ownerReferences", "managedFields":
				value = []any{map[string]any{"name": "a"}}
			case "resourceVersion":
				value = "2"
			}
			if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
				t.Fatal(err)
			}
			// Nobody says here what the user may do, so that to ask for it is an error.
			answers, err := wall.Ask(t.Context(), admissiontest.Request{Operation: kadmission.Update, Old: old, Object: object})
			if err != nil {
				t.Fatal(err)
			}
			if got := answers[0].Refused; (got != "") != refused {
				t.Errorf("%s, %s: refused by %q", name, what, got)
			}
		}
		ask("as it is", false, "metadata", "resourceVersion")
		ask("by another field manager", false, "metadata", "managedFields")
		for _, path := range [][]string{
			{"data"}, {"binaryData"}, {"immutable"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"metadata", "finalizers"}, {"metadata", "ownerReferences"},
		} {
			ask("with other "+path[len(path)-1], true, path...)
		}
	}
}
