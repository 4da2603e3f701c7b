package applying

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOrdered_has_Namespaces_and_Secrets_first_and_leaves_the_rest_as_it_was(t *testing.T) {
	objects, err := Read(strings.NewReader(`
{apiVersion: b/v1, kind: B, metadata: {name: one}}
---
{apiVersion: v1, kind: Secret, metadata: {name: two}}
---
{apiVersion: a/v1, kind: A, metadata: {name: three}}
---
{apiVersion: other/v1, kind: Secret, metadata: {name: four}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: five}}
`), []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range Ordered(objects) {
		names = append(names, object.GetName())
	}
	if !slices.Equal(names, []string{"five", "two", "one", "three", "four"}) {
		t.Errorf("the order is %q", names)
	}
}

func TestRead_refuses_what_is_no_object_and_where_there_is_none(t *testing.T) {
	for name, text := range map[string]string{"nothing": "", "no kind": "{apiVersion: v1, metadata: {name: a}}", "no name": "{apiVersion: v1, kind: A}", "no YAML": "\t{"} {
		if objects, err := Read(strings.NewReader(text), []string{"-"}); err == nil {
			t.Errorf("%s: read are %v", name, objects)
		}
	}
}

func TestRead_takes_of_a_folder_what_ends_as_objects_do(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"b.yaml": "{apiVersion: v1, kind: A, metadata: {name: b}}", "a.json": `{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}`, "README.md": "# no"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := Read(nil, []string{folder})
	if err != nil || len(objects) != 2 || objects[0].GetName() != "a" {
		t.Errorf("read are %v (%v)", objects, err)
	}
	if _, err := Read(nil, []string{filepath.Join(folder, "none")}); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestKeptBy_names_manager_and_field_and_takes_other_words_too(t *testing.T) {
	got := keptBy(metav1.Status{Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas", Message: `conflict with "kubectl-edit" using apps/v1 at 2026-01-02T03:04:05Z`},
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.paused", Message: "somebody has it"},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: ".spec.x", Message: `conflict with "a"`},
	}}})
	if !slices.Equal(got, []Kept{{".spec.replicas", "kubectl-edit"}, {".spec.paused", "somebody has it"}}) {
		t.Errorf("they are %v", got)
	}
	if keptBy(metav1.Status{}) != nil {
		t.Error("a status without details has conflicts")
	}
}
