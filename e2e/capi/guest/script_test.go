package guest

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// play is a script over an empty memory.
func play(t *testing.T) *script {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	manager := inmemoryruntime.NewManager(scheme)
	if err := manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	manager.AddResourceGroup("one")
	return &script{objects: &objects{}, memory: manager.GetResourceGroup("one").GetClient(), taken: map[string]bool{}, id: func(context.Context) (string, error) { return "an-id", nil }}
}

func (s *script) add(t *testing.T, all ...client.Object) {
	t.Helper()
	for _, o := range all {
		if err := s.memory.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *script) step(t *testing.T, held []string, masters ...string) {
	t.Helper()
	if err := s.play(t.Context(), held, DefaultRelease, masters); err != nil {
		t.Fatal(err)
	}
}

func (s *script) told(t *testing.T, of schema.GroupVersionResource, name, kind string) string {
	t.Helper()
	object, err := s.objects.get(of, name)
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range all {
		if c := c.(map[string]any); c["type"] == kind {
			return c["status"].(string)
		}
	}
	return ""
}

func (s *script) completed(t *testing.T) bool {
	t.Helper()
	said := &corev1.ConfigMap{}
	err := s.memory.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "bootstrap"}, said)
	return err == nil && said.Data["status"] == "complete"
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func TestScript_completes_once_every_master_has_a_Node(t *testing.T) {
	s := play(t)
	s.step(t, nil)
	if s.completed(t) {
		t.Error("a cluster without masters is complete")
	}
	s.add(t, node("one-0"))
	s.step(t, nil, "one-0", "one-1")
	version, err := s.objects.get(clusterVersions, "version")
	if err != nil {
		t.Fatal(err)
	}
	if id, _, _ := unstructured.NestedString(version.Object, "spec", "clusterID"); id != "an-id" {
		t.Errorf("it says that it is %q", id)
	}
	if s.completed(t) || s.told(t, clusterVersions, "version", "Available") != "False" {
		t.Error("a cluster is complete with a Node of two")
	}
	s.add(t, node("one-1"))
	s.step(t, nil, "one-0", "one-1")
	if !s.completed(t) || s.told(t, etcds, "cluster", "EtcdBootstrapMemberRemoved") != "True" || s.told(t, clusterOperators, "etcd", "Available") != "True" {
		t.Error("a cluster is not complete with all Nodes")
	}
}

func TestScript_takes_no_step_that_is_held_and_takes_it_later(t *testing.T) {
	s := play(t)
	s.add(t, node("one-0"))
	for _, row := range []struct {
		held                     []string
		complete, alone, settled bool
	}{
		{held: []string{StepComplete}},
		{held: []string{StepEtcd, StepOperators}, complete: true},
		{held: []string{StepOperators}, complete: true, alone: true},
		{complete: true, alone: true, settled: true},
	} {
		s.step(t, row.held, "one-0")
		alone, settled := s.told(t, etcds, "cluster", "EtcdBootstrapMemberRemoved") == "True", s.told(t, clusterVersions, "version", "Available") == "True"
		if s.completed(t) != row.complete || alone != row.alone || settled != row.settled {
			t.Errorf("held %v: complete %v, etcd alone %v, operators settled %v", row.held, s.completed(t), alone, settled)
		}
	}
}

func TestScript_keeps_what_somebody_has_changed(t *testing.T) {
	s := play(t)
	s.add(t, node("one-0"))
	s.step(t, nil, "one-0")
	if _, err := s.objects.patch(clusterOperators, "etcd", []byte(`{"status":{"conditions":[{"type":"Available","status":"False"}]}}`)); err != nil {
		t.Fatal(err)
	}
	s.step(t, nil, "one-0")
	if got := s.told(t, clusterOperators, "etcd", "Available"); got != "False" {
		t.Errorf("the operator is Available %q again", got)
	}
}

func TestScript_upgrades_to_what_is_asked_for_unless_it_is_held(t *testing.T) {
	s := play(t)
	s.add(t, node("one-0"))
	s.step(t, nil, "one-0")
	asked := []byte(`{"spec":{"desiredUpdate":{"version":"4.22.1","image":"example.com/release@sha256:1","architecture":null,"force":null}}}`)
	if _, err := s.objects.patch(clusterVersions, "version", asked); err != nil {
		t.Fatal(err)
	}
	s.step(t, []string{StepUpgrade}, "one-0")
	s.has(t, DefaultRelease)
	s.step(t, nil, "one-0")
	s.has(t, "4.22.1")
}

func (s *script) has(t *testing.T, want string) {
	t.Helper()
	version, err := s.objects.get(clusterVersions, "version")
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(version.Object, "status", "desired", "version"); got != want {
		t.Errorf("the release is %q, want %q", got, want)
	}
}

func TestScript_goes_on_when_somebody_has_patched_a_Node(t *testing.T) {
	s := play(t)
	s.add(t, node("one-0"))
	patched := &unstructured.Unstructured{}
	patched.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	if err := s.memory.Get(t.Context(), client.ObjectKey{Name: "one-0"}, patched); err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	if err := s.memory.Patch(t.Context(), patched, patch); err != nil { // as the fake API server does
		t.Fatal(err)
	}
	s.step(t, nil, "one-0")
	if !s.completed(t) {
		t.Error("the cluster is not complete")
	}
}

func TestScript_names_another_leader_of_etcd_when_the_one_is_gone(t *testing.T) {
	s := play(t)
	member := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: map[string]string{"component": "etcd"}}}
	}
	leader := member("etcd-bootstrap")
	leader.Annotations = map[string]string{cloudv1.EtcdLeaderFromAnnotationName: "2026-01-01T00:00:00Z"}
	s.add(t, leader, member("etcd-one-0"))
	s.step(t, nil)
	leads := func() bool {
		pod := member("etcd-one-0")
		if err := s.memory.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
		return pod.Annotations[cloudv1.EtcdLeaderFromAnnotationName] != ""
	}
	if leads() {
		t.Error("there are two leaders")
	}
	if err := s.memory.Delete(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	s.step(t, nil)
	if !leads() {
		t.Error("there is no leader")
	}
}
