package privatecrds_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/privatecrds"
)

func options() privatecrds.Options {
	return privatecrds.Options{
		Route:   "aws",
		Service: types.NamespacedName{Namespace: "capstan", Name: "capi-shim"},
		Spared:  "system:serviceaccount:capstan:capstan",
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	read := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &read.Object); err != nil {
		t.Fatal(err)
	}
	return read
}

func made(t *testing.T, upstream ...string) privatecrds.Made {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, text := range upstream {
		objects = append(objects, object(t, text))
	}
	made, err := privatecrds.Make(objects, options())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestMake(t *testing.T) {
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			upstream := object(t, c.upstream)
			before := upstream.DeepCopy()
			made := made(t, c.upstream)
			if c.private == "" {
				if len(made.Objects) != 0 || len(made.LeftOut) != 1 {
					t.Fatalf("got %v, left out %q", made.Objects, made.LeftOut)
				}
				return
			}
			if len(made.Objects) != 1 || len(made.LeftOut) != 0 {
				t.Fatalf("%d objects, left out %q", len(made.Objects), made.LeftOut)
			}
			if diff := cmp.Diff(object(t, c.private).Object, normal(t, made.Objects[0])); diff != "" {
				t.Error(diff)
			}
			if !cmp.Equal(before, upstream) {
				t.Error("the upstream object was changed")
			}
		})
	}
}

// normal is an object as it is read from YAML, numbers too.
func normal(t *testing.T, made *unstructured.Unstructured) map[string]any {
	t.Helper()
	text, err := yaml.Marshal(made.Object)
	if err != nil {
		t.Fatal(err)
	}
	return object(t, string(text)).Object
}

func TestMake_gives_definitions_first_and_tells_what_it_leaves_out(t *testing.T) {
	made := made(t,
		`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {service: {path: /v}}}]}`,
		`{kind: Namespace, metadata: {name: capi-system}}`,
		`{kind: ClusterRole, metadata: {name: z}, rules: [{apiGroups: [cluster.x-k8s.io]}]}`,
		`{kind: ClusterRole, metadata: {name: a}, rules: [{apiGroups: [cluster.x-k8s.io]}]}`,
		`{kind: Deployment, metadata: {name: capi-controller-manager}}`,
		`{kind: CustomResourceDefinition, metadata: {name: machines.cluster.x-k8s.io}, spec: {group: cluster.x-k8s.io, names: {kind: Machine}, versions: [{name: v1beta2}]}}`,
	)
	var names []string
	for _, o := range made.Objects {
		names = append(names, o.GetName())
	}
	if want := []string{"machines.cluster.hypershift.openshift.io", "private-a", "private-z", "private-v"}; !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
	if want := []string{"Deployment capi-controller-manager", "Namespace capi-system"}; !slices.Equal(made.LeftOut, want) {
		t.Errorf("left out are %q", made.LeftOut)
	}
}

func TestMake_takes_off_by_what_the_installer_knows_its_own(t *testing.T) {
	for _, text := range []string{
		`{kind: CustomResourceDefinition, metadata: {name: machines.cluster.x-k8s.io, labels: {capi-operator.openshift.io/managed-by: core, a: b}}, spec: {group: cluster.x-k8s.io, names: {kind: Machine}, versions: [{name: v1beta2}]}}`,
		`{kind: ClusterRole, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core, a: b}}, rules: [{apiGroups: [cluster.x-k8s.io]}]}`,
		`{kind: ValidatingWebhookConfiguration, metadata: {name: v, labels: {capi-operator.openshift.io/managed-by: core, a: b}}, webhooks: [{rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {service: {path: /v}}}]}`,
	} {
		if labels := made(t, text).Objects[0].GetLabels(); len(labels) != 1 || labels["a"] != "b" {
			t.Errorf("%s keeps %v, and whoever looks for strays takes it for one", text, labels)
		}
	}
}

func TestMake_refuses_and_names_path_and_text(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			_, err := privatecrds.Make([]*unstructured.Unstructured{object(t, c.upstream)}, options())
			var problems privatecrds.ProblemsError
			if !errors.As(err, &problems) || len(problems) != 1 {
				t.Fatalf("got %v", err)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q does not say %q", err, says)
				}
			}
			if !problems.Terminal() {
				t.Error("the same objects are tried again")
			}
		})
	}
}

func TestMake_refuses_an_object_that_comes_twice(t *testing.T) {
	role := object(t, `{kind: ClusterRole, metadata: {name: a}, rules: [{apiGroups: [cluster.x-k8s.io]}]}`)
	if _, err := privatecrds.Make([]*unstructured.Unstructured{role, role}, options()); err == nil || !strings.Contains(err.Error(), "ClusterRole private-a: it is there twice") {
		t.Errorf("got %v", err)
	}
}

func TestConvertsItself_the_core_and_what_is_kubeadms(t *testing.T) {
	for kind, want := range map[string]bool{
		"Machine.cluster.x-k8s.io": true, "ClusterResourceSet.addons.cluster.x-k8s.io": true, "IPAddress.ipam.cluster.x-k8s.io": true,
		"ExtensionConfig.runtime.cluster.x-k8s.io": true, "KubeadmConfig.bootstrap.cluster.x-k8s.io": true, "KubeadmControlPlane.controlplane.cluster.x-k8s.io": true,
		"EKSConfig.bootstrap.cluster.x-k8s.io": false, "ROSAControlPlane.controlplane.cluster.x-k8s.io": false,
		"AWSMachine.infrastructure.cluster.x-k8s.io": false, "Machine.machine.openshift.io": false, "Machine.cluster.hypershift.openshift.io": false,
	} {
		kind, group, _ := strings.Cut(kind, ".")
		if got := privatecrds.ConvertsItself(group, kind); got != want {
			t.Errorf("%s of %s: %v", kind, group, got)
		}
	}
}
