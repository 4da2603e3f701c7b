package packaging

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, documents string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(documents, "\n---\n") {
		json, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(json); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

func render(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	encoded, err := encode(objects)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func TestTransform(t *testing.T) {
	for _, rows := range []map[string]struct{ in, want string }{
		selectionRows, namespaceRows, serviceCARows, webhookRows, workloadRows, userRows,
	} {
		for name, row := range rows {
			t.Run(name, func(t *testing.T) {
				input := parse(t, row.in)
				before := render(t, input)
				objects, err := Transform(input)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := render(t, objects), render(t, parse(t, row.want)); got != want {
					t.Errorf("got:\n%s\nwant:\n%s", got, want)
				}
				if render(t, input) != before {
					t.Error("the input was changed")
				}
			})
		}
	}
}

func TestTransform_errors_name_the_object_and_the_field(t *testing.T) {
	for name, row := range errorRows {
		t.Run(name, func(t *testing.T) {
			_, err := Transform(parse(t, row.in))
			var field *FieldError
			if !errors.As(err, &field) {
				t.Fatalf("got %v, want a FieldError", err)
			}
			if field.Object != row.object || field.Field != row.field || !strings.Contains(field.Reason, row.reason) {
				t.Errorf("got  %q, %q, %q\nwant %q, %q, ...%q...", field.Object, field.Field, field.Reason, row.object, row.field, row.reason)
			}
		})
	}
}

func TestTransform_names_every_container_with_a_foreign_image(t *testing.T) {
	_, err := Transform(parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {initContainers: [{name: a, image: example.com/a}], containers: [{name: b, image: busybox}, {name: c, image: "registry.ci.openshift.org/openshift:c"}, {name: d, image: "${IMAGE:=x}"}]}}}`))
	for _, name := range []string{`container "a"`, `container "b"`, `container "d"`} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in %v", name, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), `container "c"`) {
		t.Errorf("container c is refused: %v", err)
	}
}

func TestTransform_errors_do_not_depend_on_the_order_of_the_input(t *testing.T) {
	for name, row := range errorRows {
		input := parse(t, row.in)
		_, want := Transform(input)
		slices.Reverse(input)
		if _, got := Transform(input); got == nil || got.Error() != want.Error() {
			t.Errorf("%s: one order gives %v, the other %v", name, want, got)
		}
	}
}

func TestTransform_refuses_a_kustomization_with_nothing_to_install(t *testing.T) {
	for name, objects := range map[string][]*unstructured.Unstructured{
		"no object":          nil,
		"only dropped kinds": parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: capa-system}}"),
	} {
		if _, err := Transform(objects); err == nil || !strings.Contains(err.Error(), "no object is left") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTransform_gives_the_same_bytes_for_any_order_of_the_input(t *testing.T) {
	var all []string
	for _, rows := range []map[string]struct{ in, want string }{selectionRows, namespaceRows, webhookRows} {
		for _, row := range rows {
			all = append(all, row.in)
		}
	}
	objects := parse(t, strings.Join(all, "\n---\n"))
	seen := map[string]bool{}
	for _, object := range objects { // rows reuse names, which one profile cannot
		for seen[describe(object)] {
			object.SetName(object.GetName() + "-again")
		}
		seen[describe(object)] = true
	}
	var want string
	rapid.Check(t, func(r *rapid.T) {
		transformed, err := Transform(rapid.Permutation(objects).Draw(r, "order"))
		if err != nil {
			r.Fatal(err)
		}
		got := render(t, transformed)
		if want == "" {
			want = got
		}
		if got != want {
			r.Fatalf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

func TestTransform_twice_changes_nothing_more(t *testing.T) {
	for _, rows := range []map[string]struct{ in, want string }{
		selectionRows, namespaceRows, serviceCARows, webhookRows, workloadRows, userRows,
	} {
		for name, row := range rows {
			once, err := Transform(parse(t, row.in))
			if err != nil {
				t.Fatal(err)
			}
			twice, err := Transform(once)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := render(t, twice), render(t, once); got != want {
				t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
			}
		}
	}
}

func TestEncode_keeps_substitutions_word_for_word(t *testing.T) {
	for _, text := range []string{
		`--diagnostics-address=${CAPI_DIAGNOSTICS_ADDRESS:=:8443}`,
		`--feature-gates=MachinePool=${EXP_MACHINE_POOL:=true},ClusterTopology=${CLUSTER_TOPOLOGY:=false},` + strings.Repeat("X=${X:=false},", 40),
		`${AWS_CONTROLLER_IAM_ROLE:=""}`,
		`${K8S_CP_LABEL:=node-role.kubernetes.io/control-plane}`,
		`${AWS_CONTROLLER_IAM_ROLE/#arn/eks.amazonaws.com/role-arn`,
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"value": text, text: "key"}}
		if got := strings.Count(render(t, []*unstructured.Unstructured{object}), text); got != 2 {
			t.Errorf("%s: found %d times as value and key, want 2", text, got)
		}
	}
}
