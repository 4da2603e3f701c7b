package decide

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestDeletesClaims_is_true_of_StatefulSets_that_ask_for_it(t *testing.T) {
	for manifest, want := range map[string]bool{
		`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}}`:       true,
		`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain}}}`:       false,
		`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {}}`:                                                                  false,
		`{apiVersion: other.test/v1, kind: StatefulSet, metadata: {name: a}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}}`: false,
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}}`:        false,
	} {
		if got := DeletesClaims(objects.Parse(t, manifest)); got != want {
			t.Errorf("%s: %t", manifest, got)
		}
	}
	if DeletesClaims(nil) {
		t.Error("what is not there deletes nothing")
	}
}

func TestIsClaimOf_knows_the_claims_of_a_StatefulSet_by_their_names(t *testing.T) {
	set := objects.Parse(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db-1}, spec: {volumeClaimTemplates: [{metadata: {name: data}}, {metadata: {name: log}}]}}`)
	for claim, want := range map[string]bool{
		"data-db-1-0": true, "log-db-1-12": true, "data-db-1-": false, "data-db-1-x": false, "data-db-1--1": false, "other-db-1-0": false, "data-db-0": false,
	} {
		if got := IsClaimOf(set, claim); got != want {
			t.Errorf("%s: %t", claim, got)
		}
	}
}

func TestReconcile_never_seizes_a_definition_of_somebody_else(t *testing.T) {
	for _, mode := range []string{AdoptAlways, AdoptForce} {
		manifest := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "clusters.cluster.x-k8s.io", "annotations": map[string]any{AdoptAnnotation: mode}},
			"spec":     map[string]any{"group": "cluster.x-k8s.io", "names": map[string]any{"kind": "Cluster"}},
		}}
		theirs := manifest.DeepCopy()
		theirs.SetAnnotations(nil)
		theirs.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "administrator", Operation: "Update"}})
		v := Reconcile(manifestOf(manifest).Desired(testStamp), theirs, testNumber, testUs)
		if v.Action != Collision || strings.Contains(v.Why, AdoptAnnotation) {
			t.Errorf("%s: %+v", mode, v)
		}
	}
}
