package inputs

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

// has says whether there is a Secret.
func (b *bench) has(name string) bool {
	b.t.Helper()
	err := b.live.Get(b.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, &corev1.Secret{})
	if err != nil && !apierrors.IsNotFound(err) {
		b.t.Fatal(err)
	}
	return err == nil
}

func TestRemoveKeys_takes_away_what_nobody_needs_once_the_bootstraps_config_is_gone(t *testing.T) {
	b := installed(t)
	remove := func() {
		t.Helper()
		seen, _ := b.see()
		if _, err := seen.RemoveKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.remove(made("a-ignition-bootstrap", nil))
	if remove(); !b.has("a-ignition-keys") {
		t.Error("before the bootstrap is finished they are gone")
	}
	b = installed(t)
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	if remove(); !b.has("a-ignition-keys") {
		t.Error("while the bootstrap's config is retained they are gone")
	}
	b.remove(made("a-ignition-bootstrap", nil))
	if remove(); b.has("a-ignition-keys") {
		t.Error("they are left")
	}
	for _, name := range []string{"a-ignition-master", "a-ignition-worker", "c-ca", "inputs"} {
		if !b.has(name) {
			t.Errorf("%s is gone", name)
		}
	}
	b.writes = nil
	if remove(); len(b.writes) > 0 {
		t.Errorf("again it writes %v", b.writes)
	}
}

func TestRemoveKeys_takes_away_what_an_installer_has_made(t *testing.T) {
	b, name := started(t)
	b.ended(batchv1.JobComplete, b.packed("the first"))
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	b.remove(made("a-ignition-bootstrap", nil))
	seen, _ := b.see()
	if _, err := seen.RemoveKeys(t.Context()); err != nil || b.has(name) || !b.has("c-kubeconfig") {
		t.Errorf("its result is left: %v", err)
	}
}

func TestRemoveKeys_leaves_authorities_and_the_kubeconfig_whatever_is_noted_on_them(t *testing.T) {
	b, name := started(t)
	b.ended(batchv1.JobComplete, b.packed("the first"))
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	all := []string{"c-ca", "c-etcd", "c-sa", "c-proxy", "c-kubeconfig"}
	for _, one := range all {
		edit(b, &corev1.Secret{}, one, func(s *corev1.Secret) {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1alpha1.PayloadNotAfterAnnotation, "2026-01-02T03:04:05Z")
			metav1.SetMetaDataLabel(&s.ObjectMeta, clusterv1.ClusterNameLabel, "c")
			s.OwnerReferences = b.secret("a-ignition-master").OwnerReferences
		})
	}
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	b.remove(made("a-ignition-bootstrap", nil))
	seen, _ := b.see()
	if _, err := seen.RemoveKeys(t.Context()); err != nil || b.has(name) {
		t.Errorf("the installer's result is left: %v", err)
	}
	for _, one := range all {
		if !b.has(one) {
			t.Errorf("%s is gone", one)
		}
	}
}
