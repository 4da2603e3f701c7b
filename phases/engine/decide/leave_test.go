package decide

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestUnlike(t *testing.T) {
	edited := func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, "2", "data", "a")
		entryOf("kubectl", "Update", `{"f:data":{"f:a":{}}}`)(u)
	}
	for name, row := range map[string]struct {
		actual *unstructured.Unstructured
		number int64
		want   string
	}{
		"not there":                              {nil, testStamp.Number, "it is not there, or has lost its label"},
		"as it should be":                        {object(), testStamp.Number, ""},
		"as it should be, but for the number":    {object(), testStamp.Number + 1, ""},
		"edited":                                 {object(edited), testStamp.Number, "it differs in .data.a (held by kubectl)"},
		"edited, and of another number":          {object(edited), testStamp.Number + 1, "it differs in .data.a (held by kubectl)"},
		"of another installation":                {object(annotation(OwnerAnnotation, "other")), testStamp.Number, `it exists already and belongs to the installation "other"`},
		"being deleted":                          {object(leaving), testStamp.Number, "it is being deleted since"},
		"of a newer revision":                    {object(), testStamp.Number - 1, ""},
		"nobody's any more, but with our fields": {object(unwritten), testStamp.Number, "it is to be written: its managedFields do not name us any more"},
	} {
		desired := settings()
		desired.Payload = payloadOf(desired.Manifest.packed.Unpack(), Stamp{Component: testStamp.Component, Number: row.number, owner: testStamp.owner, label: testStamp.label})
		got := Reconcile(desired, row.actual, row.number, testUs).Unlike(desired, row.actual, testUs)
		if !strings.HasPrefix(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestLeftWhy_says_who_asks_and_what_differs(t *testing.T) {
	if got := LeftWhy("by anna", ""); got != "is left alone by anna" {
		t.Error(got)
	}
	if got := LeftWhy("by anna", "it differs"); got != "is left alone by anna; it differs" {
		t.Error(got)
	}
}

func TestInstance(t *testing.T) {
	crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"group": "test", "names": map[string]any{"kind": "A"}}}}
	for key, want := range map[Key]bool{{Group: "test", Kind: "A", Name: "x"}: true, {Group: "test", Kind: "B"}: false, {Group: "other", Kind: "A"}: false} {
		if Instance(crd, key) != want || Instance(nil, key) {
			t.Errorf("%+v", key)
		}
	}
}
