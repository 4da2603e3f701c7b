package guest

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// etcdSays is what the operator of etcd says of members, in words and as a list.
func (s *script) etcdSays(t *testing.T) (string, map[string]string) {
	t.Helper()
	object, err := s.objects.get(etcds, "cluster")
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range all {
		if c := c.(map[string]any); c["type"] == "EtcdMembersAvailable" {
			said = c["message"].(string)
		}
	}
	listed := &corev1.ConfigMap{}
	if err := s.memory.Get(t.Context(), endpoints, listed); err != nil {
		t.Fatal(err)
	}
	return said, listed.Data
}

// alter changes a Node.
func (s *script) alter(t *testing.T, name string, how func(*corev1.Node)) {
	t.Helper()
	one := &corev1.Node{}
	if err := s.memory.Get(t.Context(), client.ObjectKey{Name: name}, one); err != nil {
		t.Fatal(err)
	}
	how(one)
	if err := s.memory.Update(t.Context(), one); err != nil {
		t.Fatal(err)
	}
}

func ready(name string) *corev1.Node {
	one := node(name)
	one.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return one
}

func TestScript_tells_of_the_members_of_etcd(t *testing.T) {
	s := play(t)
	masters := []string{"one-0", "one-1"}
	s.add(t, ready("one-0"), ready("one-1"))
	expect := func(words string, list map[string]string) {
		t.Helper()
		if said, listed := s.etcdSays(t); said != words || !maps.Equal(listed, list) || s.told(t, etcds, "cluster", "EtcdBootstrapMemberRemoved") != "True" {
			t.Errorf("it says %q and lists %v", said, listed)
		}
	}
	s.step(t, nil, masters...)
	expect("2 members are available", map[string]string{"one-0": "10.0.0.2", "one-1": "10.0.0.3"})

	s.alter(t, "one-1", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })
	s.step(t, nil, masters...)
	expect("1 of 2 members are available, one-1 is unhealthy", map[string]string{"one-0": "10.0.0.2", "one-1": "10.0.0.3"})

	s.alter(t, "one-1", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	s.step(t, []string{StepMembers}, masters...)
	expect("1 of 2 members are available, one-1 is unhealthy", map[string]string{"one-0": "10.0.0.2", "one-1": "10.0.0.3"})
	s.step(t, nil, masters...)
	expect("1 members are available", map[string]string{"one-0": "10.0.0.2"})

	if err := s.memory.Delete(t.Context(), node("one-1")); err != nil {
		t.Fatal(err)
	}
	s.add(t, ready("one-1"))
	s.step(t, nil, masters...)
	expect("2 members are available", map[string]string{"one-0": "10.0.0.2", "one-1": "10.0.0.4"})
}
