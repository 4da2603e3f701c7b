package payload_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/deploy/payload"
)

func files(t *testing.T) map[string][]byte {
	t.Helper()
	made, err := payload.Files()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// objects are those of the payload, in the order of its files.
func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	made := files(t)
	var all []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if name == "image-references" {
			continue
		}
		parsed, err := deploy.Parse(made[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, parsed...)
	}
	return all
}

func key(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

func goes(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()["release.openshift.io/delete"] == "true"
}

func find(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects(t) {
		if key(object) == name {
			return object
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

func TestFiles_bring_what_kustomize_brings_but_the_budget(t *testing.T) {
	shared, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, object := range shared {
		if object.GetKind() != "PodDisruptionBudget" {
			want = append(want, key(object))
		}
	}
	want = append(want, "CredentialsRequest openshift-cloud-credential-operator/openshift-cluster-api-aws")
	for _, object := range objects(t) {
		if !goes(object) {
			got = append(got, key(object))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestFiles_have_one_replica_of_the_image_of_the_release(t *testing.T) {
	for _, name := range []string{"capstan", "capstan-webhooks"} {
		deployment := find(t, "Deployment openshift-cluster-api-operator/"+name)
		if replicas, _, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas"); err != nil || replicas != 1 {
			t.Errorf("%s: %d replicas, %v", name, replicas, err)
		}
		containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		if err != nil || containers[0].(map[string]any)["image"] != "registry.ci.openshift.org/openshift:cluster-api-operator" {
			t.Errorf("%s: got %v, %v", name, containers, err)
		}
	}
}

func TestFiles_keep_the_replicas_of_the_checker_on_different_nodes(t *testing.T) {
	for name, want := range map[string]bool{"capstan": false, "capstan-webhooks": true} {
		deployment := find(t, "Deployment openshift-cluster-api-operator/"+name)
		if _, found, err := unstructured.NestedMap(deployment.Object, "spec", "template", "spec", "affinity", "podAntiAffinity"); err != nil || found != want {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestFiles_list_every_image_but_the_operators_own(t *testing.T) {
	list := find(t, "ConfigMap openshift-cluster-api-operator/capi-installer-images")
	data, _, err := unstructured.NestedStringMap(list.Object, "data")
	if keys := list.GetAnnotations()["capi-operator.openshift.io/image-keys"]; keys != strings.Join(slices.Sorted(maps.Keys(data)), ",") {
		t.Errorf("named are %s", keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(data), strings.Count(string(files(t)["image-references"]), "DockerImage")-1; got != want {
		t.Errorf("%d images of %d are listed: %v", got, want, data)
	}
	if data["cluster-api-operator"] != "" || data["cluster-capi-controllers"] != "registry.ci.openshift.org/openshift:cluster-capi-controllers" {
		t.Errorf("got %v", data)
	}
}

func TestFiles_take_away_both_Deployments_of_the_installer_before(t *testing.T) {
	for _, name := range []string{"capi-operator", "capi-installer"} {
		if object := find(t, "Deployment openshift-cluster-api-operator/"+name); !goes(object) || object.Object["spec"] != nil {
			t.Errorf("%s is not taken away: %v", name, object.Object)
		}
	}
}

func TestWrite_writes_all_files(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "payload")
	if err := payload.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range files(t) {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
