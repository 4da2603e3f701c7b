package machines

import (
	"reflect"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

const installer = "a-ignition-0123456789"

// runningInstaller is what an installer has while its Job runs.
func runningInstaller() []client.Object {
	about := secret(installer).ObjectMeta
	result := secret(installer)
	metav1.SetMetaDataAnnotation(&result.ObjectMeta, v1alpha1.PayloadNotAfterAnnotation, "2026-01-02T03:04:05Z")
	return []client.Object{
		secret(installer + "-assets-0"), result, &corev1.ServiceAccount{ObjectMeta: about}, &rbacv1.Role{ObjectMeta: about},
		&rbacv1.RoleBinding{ObjectMeta: about}, &batchv1.Job{ObjectMeta: about},
	}
}

func TestClearAttempt_and_DeleteCluster_leave_nothing_of_an_installer_that_runs(t *testing.T) {
	elsewhere := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c-ca"}}
	for name, row := range map[string]struct {
		work work
		has  []client.Object
		want []string
	}{
		"clearing": {(*Seen).ClearAttempt, runningInstaller(), []string{
			"RoleBinding " + installer, "Role " + installer, "ServiceAccount " + installer, "Job " + installer, "Secret " + installer, "Secret " + installer + "-assets-0", "Secret c-ca",
		}},
		"clearing, before there was a Job": {(*Seen).ClearAttempt, runningInstaller()[:3], []string{
			"ServiceAccount " + installer, "Secret " + installer, "Secret " + installer + "-assets-0", "Secret c-ca",
		}},
		"deleting": {(*Seen).DeleteCluster, runningInstaller(), []string{
			"RoleBinding " + installer, "Role " + installer, "ServiceAccount " + installer, "Job " + installer, "Secret " + installer, "Secret " + installer + "-assets-0", "Secret c-ca",
		}},
	} {
		plane := asked(1, func(p *v1alpha1.OpenShiftControlPlane) { p.Finalizers = []string{v1alpha1.Finalizer} })
		w := newWorld(t, slices.Concat(frame(), row.has, []client.Object{plane, secret("c-ca"), elsewhere.DeepCopy()})...)
		if name == "deleting" {
			w.must((*Seen).ask)
		} else {
			w.must((*Seen).giveUp)
		}
		w.writes = nil
		for range 3 {
			w.must(row.work)
		}
		if got := deletions(w.writes); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: it deleted %v", name, got)
		}
		if left := w.all(); !reflect.DeepEqual(left, []string{"Role c-ca"}) {
			t.Errorf("%s: there are %v", name, left)
		}
	}
}
