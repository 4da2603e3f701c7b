package privatecapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// machineOf is an object of the standard side, as a rapid test draws it.
func machineOf(t *rapid.T) *unstructured.Unstructured {
	text := rapid.SampledFrom([]string{"cluster.x-k8s.io/v1beta1", "infrastructure.cluster.x-k8s.io/v1", "v1", "apps/v1", "foo.cluster.x-k8s.io/v1", "x"})
	o := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"ref":  map[string]any{"apiVersion": text.Draw(t, "apiVersion"), "kind": "AWSMachine", "uid": "owner"},
			"refs": []any{map[string]any{"apiGroup": text.Draw(t, "apiGroup")}, text.Draw(t, "plain")},
		},
		"status": map[string]any{"observedGeneration": rapid.Int64Range(0, 3).Draw(t, "observed"), "labels": map[string]any{"apiVersion": text.Draw(t, "label")}},
	}}
	o.SetAPIVersion("cluster.x-k8s.io/v1beta1")
	o.SetKind("Machine")
	o.SetName("m")
	o.SetUID("source")
	o.SetGeneration(2)
	o.SetAnnotations(map[string]string{"note": text.Draw(t, "annotation")})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: text.Draw(t, "owner"), Kind: "MachineSet", Name: "s", UID: "owner"}})
	return o
}

func TestCopy_says_in_standard_text_what_its_source_says(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := machineOf(t)
		there, back := map[types.UID]types.UID{"owner": "its-copy"}, map[types.UID]types.UID{"its-copy": "owner"}
		target := &unstructured.Unstructured{Object: copyOf(source, Standard.to, there, "cluster.hypershift.openshift.io/v1beta1", true)}
		target.SetUID("copy")
		target.SetGeneration(rapid.Int64Range(1, 5).Draw(t, "generation"))
		target.Object["status"] = statusOf(source, Standard.to, there, target.GetGeneration())
		if diff := cmp.Diff(essence(source, unchanged, nil), essence(target, Private.to, back)); diff != "" {
			t.Fatal(diff)
		}
		again := &unstructured.Unstructured{Object: copyOf(target, Private.to, back, "cluster.x-k8s.io/v1beta1", true)}
		again.Object["status"] = statusOf(target, Private.to, back, 2)
		again.SetGeneration(2)
		if diff := cmp.Diff(essence(source, unchanged, nil), essence(again, unchanged, nil)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestCopy_leaves_alone_what_is_no_group(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
		"metadata": map[string]any{
			"name": "m", "uid": "1", "resourceVersion": "7", "annotations": map[string]any{"apiVersion": "cluster.x-k8s.io/v1"},
			"labels": map[string]any{"cluster.x-k8s.io/cluster-name": "a"}, "finalizers": []any{"machine.cluster.x-k8s.io"},
		},
		"spec": map[string]any{"text": "cluster.x-k8s.io/v1", "apiVersion": "capi-provider.agent-install.openshift.io/v1"},
	}}
	want := map[string]any{
		"apiVersion": "cluster.hypershift.openshift.io/v1beta1", "kind": "Machine",
		"metadata": map[string]any{
			"name": "m", "annotations": map[string]any{"apiVersion": "cluster.x-k8s.io/v1", "capstan.openshift.io/migrated-from": "1"},
			"labels": map[string]any{"cluster.x-k8s.io/cluster-name": "a"}, "finalizers": []any{"machine.cluster.x-k8s.io"},
		},
		"spec": map[string]any{"text": "cluster.x-k8s.io/v1", "apiVersion": "capi-provider.agent-install.openshift.io/v1"},
	}
	if diff := cmp.Diff(want, copyOf(o, Standard.to, nil, "cluster.hypershift.openshift.io/v1beta1", true)); diff != "" {
		t.Error(diff)
	}
}

func TestOwners_of_dependents_come_and_go_with_the_controller_flag(t *testing.T) {
	yes := true
	standard := metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Machine", Name: "m", UID: "source", Controller: &yes}
	private := metav1.OwnerReference{APIVersion: "cluster.hypershift.openshift.io/v1beta1", Kind: "Machine", Name: "m", UID: "copy"}
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "other"}
	there, back := map[types.UID]types.UID{"source": "copy"}, map[types.UID]types.UID{"copy": "source"}

	both, whole := withSecondOwners([]metav1.OwnerReference{other, standard}, Standard, there)
	if !whole || len(both) != 3 || controls(both[1]) || !controls(both[2]) || both[2].UID != private.UID || both[2].APIVersion != private.APIVersion {
		t.Fatalf("both are %v", both)
	}
	if again, _ := withSecondOwners(both, Standard, there); !cmp.Equal(both, again) {
		t.Errorf("a second time they are %v", again)
	}
	if after := withoutOwnersOn(both, Standard, there); len(after) != 2 || after[1].UID != "copy" || !controls(after[1]) {
		t.Errorf("after the move they are %v", after)
	}
	if undone := withoutOwnersOn(both, Private, back); !cmp.Equal(undone, []metav1.OwnerReference{other, standard}) {
		t.Errorf("after it was undone they are %v", undone)
	}
	if left, whole := withSecondOwners([]metav1.OwnerReference{standard}, Standard, nil); whole || len(left) != 1 {
		t.Errorf("without a counterpart they are %v", left)
	}
}

func TestSides_are_told_by_group(t *testing.T) {
	for group, want := range map[string]Side{
		"cluster.x-k8s.io": Standard, "infrastructure.cluster.x-k8s.io": Standard, "cluster.hypershift.openshift.io": Private,
		"bootstrap.cluster.hypershift.openshift.io": Private, "hypershift.openshift.io": "", "": "", "apps": "",
		"platform-native.cluster.x-k8s.io": "", "foo.cluster.x-k8s.io": "", "capi-provider.agent-install.openshift.io": "",
	} {
		if is := SideOf(group); is != want {
			t.Errorf("%s is %q, not %q", group, is, want)
		}
	}
}

func TestPair_takes_the_first_version_that_both_sides_serve(t *testing.T) {
	kind := func(group, resource string, versions ...string) Kind {
		return Kind{Group: group, Resource: resource, Kind: resource, Versions: versions, Namespaced: true}
	}
	pairs, alone := pair([]Kind{
		kind("cluster.x-k8s.io", "machines", "v1beta2", "v1beta1"), kind("cluster.hypershift.openshift.io", "machines", "v1beta1"),
		kind("cluster.x-k8s.io", "clusters", "v9"), kind("cluster.hypershift.openshift.io", "clusters", "v1beta1"),
		kind("apps", "deployments", "v1"),
	}, Standard)
	if len(pairs) != 1 || pairs[0].source.Version() != "v1beta1" || pairs[0].target.Group != "cluster.hypershift.openshift.io" {
		t.Errorf("pairs are %v", pairs)
	}
	if len(alone) != 2 {
		t.Errorf("alone are %v", alone)
	}
}
