package decide

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var planner = Identity{Owner: "o", FieldManager: "capstan"}

func treeOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	text2, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(text2); err != nil {
		t.Fatal(err)
	}
	return o
}

func fieldsHeld(manager, operation, fields string) string {
	return fmt.Sprintf("{manager: %s, operation: %s, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: %s}", manager, operation, fields)
}

func written(changes []Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s %v -> %v %v", c.Path, c.From, c.To, c.Managers))
	}
	return all
}

func TestChanges_tells_what_people_would_call_different(t *testing.T) {
	const service = `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: here%s}, spec: {type: %s, ports: [%s]}}`
	const ports = `, managedFields: [{manager: capstan, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:targetPort": {}}}}}},
		{manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:type": {}}}}]`
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing but status and marks": {
			before: `{apiVersion: v1, kind: Namespace, metadata: {name: a, resourceVersion: "1", annotations: {capi-operator.openshift.io/revision: "1"}}, status: {phase: Active}}`,
			after:  `{apiVersion: v1, kind: Namespace, metadata: {name: a, resourceVersion: "2", annotations: {capi-operator.openshift.io/revision: "2"}, labels: {capi-operator.openshift.io/managed-by: x}}}`,
		},
		"a field, with who holds it": {
			before: fmt.Sprintf(service, ports, "ClusterIP", "{port: 80, protocol: TCP, targetPort: 1}"),
			after:  fmt.Sprintf(service, ports, "NodePort", "{port: 80, protocol: TCP, targetPort: 1}"),
			want:   []string{`.spec.type ClusterIP -> NodePort [kubectl]`},
		},
		"an item of a list by its keys, in whatever order": {
			before: fmt.Sprintf(service, ports, "ClusterIP", "{port: 80, protocol: TCP, targetPort: 1}, {port: 443, protocol: TCP}"),
			after:  fmt.Sprintf(service, ports, "ClusterIP", "{port: 443, protocol: TCP}, {port: 80, protocol: TCP, targetPort: 2}"),
			want:   []string{`.spec.ports[port=80,protocol="TCP"].targetPort 1 -> 2 []`},
		},
		"items of a list by their names where nothing says how": {
			before: `{apiVersion: x/v1, kind: A, metadata: {name: a}, spec: {versions: [{name: v1, served: true}, {name: v2, served: true}]}}`,
			after:  `{apiVersion: x/v1, kind: A, metadata: {name: a}, spec: {versions: [{name: v2, served: false}, {name: v3}]}}`,
			want: []string{
				`.spec.versions[name="v1"] map[name:v1 served:true] -> <nil> []`, `.spec.versions[name="v2"].served true -> false []`,
				`.spec.versions[name="v3"] <nil> -> map[name:v3] []`,
			},
		},
		"a list of plain values as a whole": {
			before: `{apiVersion: x/v1, kind: A, metadata: {name: a}, spec: {args: [a, b]}}`,
			after:  `{apiVersion: x/v1, kind: A, metadata: {name: a}, spec: {args: [a, c, b]}}`,
			want:   []string{`.spec.args [a b] -> [a c b] []`},
		},
		"of a Secret only names": {
			before: `{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {key: c2VjcmV0}}`,
			after:  `{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {key: b3RoZXI=, more: eA==}}`,
			want:   []string{`.data.key <nil> -> <nil> []`, `.data.more <nil> -> <nil> []`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := written(Changes(treeOf(t, c.before), treeOf(t, c.after), planner)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestForetold_puts_in_what_is_desired_and_takes_away_what_only_we_hold(t *testing.T) {
	actual := treeOf(t, `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: here, labels: {ours: x, both: x, theirs: x}, managedFields: [`+
		fieldsHeld("capstan", "Apply", `{"f:metadata": {"f:labels": {"f:ours": {}, "f:both": {}}}, "f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:targetPort": {}}}}}`)+", "+
		fieldsHeld("kubectl", "Update", `{"f:metadata": {"f:labels": {"f:both": {}, "f:theirs": {}}}}`)+
		`]}, spec: {clusterIP: 10.0.0.1, ports: [{port: 80, protocol: TCP, targetPort: 1, nodePort: 30000}]}}`)
	manifest := treeOf(t, `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: here}, spec: {ports: [{port: 80, targetPort: 2}, {port: 443}]}}`)
	desired := manifestOf(manifest).Desired(planner.Stamp("c", 2))
	got := written(Changes(actual, Foretold(desired, actual, planner), planner))
	want := []string{
		`.metadata.labels.ours x -> <nil> []`, `.spec.ports[port=80,protocol="TCP"].targetPort 1 -> 2 []`, `.spec.ports[port=443] <nil> -> map[port:443] []`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
