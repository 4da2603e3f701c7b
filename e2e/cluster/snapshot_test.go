package cluster_test

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

func TestWhatWasWrittenAfterASnapshotIsForgottenByARestore(t *testing.T) {
	c := start(t, cluster.Options{ServiceCA: true})
	client := clientOf(t, c)
	create := func(name string) int {
		t.Helper()
		created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		version, err := strconv.Atoi(created.ResourceVersion)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	create("before")
	snapshot, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "after", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		create("after")
	}
	last, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "after", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Restore(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Errorf("what was written before the snapshot: %v", err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "after", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was written after the snapshot is not forgotten: %v", err)
	}
	if again := strconv.Itoa(create("again")); len(again) > len(last.ResourceVersion) || len(again) == len(last.ResourceVersion) && again >= last.ResourceVersion {
		t.Errorf("versions went on from %s to %s", last.ResourceVersion, again)
	}
}
