package guest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// endpoints is the ConfigMap in which the operator of etcd lists its members.
var endpoints = client.ObjectKey{Namespace: "openshift-etcd", Name: "etcd-endpoints"}

// members tells of the members of etcd: each master with a Node has one, which is healthy as long as the Node is Ready. As an
// administrator does it, a member is taken out when its Node is cordoned, unless that is held. What is told is written when it changes.
func (s *script) members(ctx context.Context, held []string, masters []string) error {
	listed, healthy, unhealthy := map[string]string{}, 0, ""
	for _, name := range slices.Sorted(slices.Values(masters)) {
		node := &corev1.Node{}
		if err := s.memory.Get(ctx, client.ObjectKey{Name: name}, node); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("reading Node %s: %w", name, err)
		}
		if node.Spec.Unschedulable && !slices.Contains(held, StepMembers) {
			continue
		}
		address, err := s.address(ctx, node)
		if err != nil {
			return err
		}
		listed[name] = address
		if isReady(node) {
			healthy++
		} else {
			unhealthy += fmt.Sprintf(", %s is unhealthy", name)
		}
	}
	said := fmt.Sprintf("%d members are available", healthy)
	if unhealthy != "" {
		said = fmt.Sprintf("%d of %d members are available%s", healthy, len(listed), unhealthy)
	}
	if said == s.said && maps.Equal(listed, s.listed) {
		return nil
	}
	if err := s.list(ctx, listed); err != nil {
		return err
	}
	s.said, s.listed = said, listed
	return s.tellEtcd()
}

// address is that of a Node, which gets one as a machine in a network does: the dev provider gives none.
func (s *script) address(ctx context.Context, node *corev1.Node) (string, error) {
	if len(node.Status.Addresses) > 0 {
		return node.Status.Addresses[0].Address, nil
	}
	s.addresses++
	at := fmt.Sprintf("10.0.%d.%d", s.addresses/250, s.addresses%250+1)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: at}}
	if err := s.memory.Update(ctx, node); err != nil {
		return "", fmt.Errorf("giving Node %s an address: %w", node.Name, err)
	}
	return at, nil
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// list writes the addresses of members.
func (s *script) list(ctx context.Context, members map[string]string) error {
	said := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: endpoints.Namespace, Name: endpoints.Name}, Data: members}
	err := s.memory.Create(ctx, said)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := s.memory.Get(ctx, endpoints, said); err != nil {
		return err
	}
	said.Data = members
	return s.memory.Update(ctx, said)
}

// tellEtcd tells what etcd's operator says.
func (s *script) tellEtcd() error {
	alone := "False"
	if s.taken[StepEtcd] {
		alone = "True"
	}
	conditions := []any{condition("EtcdBootstrapMemberRemoved", alone)}
	if s.said != "" {
		members := condition("EtcdMembersAvailable", "True")
		members["message"] = s.said
		conditions = append(conditions, members)
	}
	return s.tell(etcds, "cluster", map[string]any{"conditions": conditions})
}
