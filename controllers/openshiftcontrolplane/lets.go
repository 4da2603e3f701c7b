package openshiftcontrolplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// clusterMatters lets through what is read of a Cluster: Cluster API writes to its status more often than that changes.
var clusterMatters = house.Changed(func(c *clusterv1.Cluster) any {
	return []any{c.UID, c.Generation, c.Annotations, c.Labels, c.DeletionTimestamp, c.Status.Initialization, standing(c.Status.Conditions)}
})

// machineMatters lets through what is read of a Machine.
var machineMatters = house.Changed(func(m *clusterv1.Machine) any {
	return []any{
		m.UID, m.Generation, m.Annotations, m.Labels, m.OwnerReferences, m.DeletionTimestamp,
		m.Status.Initialization, m.Status.NodeRef, m.Status.Addresses, standing(m.Status.Conditions),
	}
})

// configMatters lets through configs that come, go, and change their owners, or what their machines wait for.
var configMatters = house.Changed(func(c *v1alpha1.OpenShiftConfig) any {
	return []any{c.UID, c.OwnerReferences, c.DeletionTimestamp, phases.ConfigWaits(c)}
})

// standing are conditions without their times and words.
func standing(conditions []metav1.Condition) map[string]metav1.ConditionStatus {
	all := map[string]metav1.ConditionStatus{}
	for _, c := range conditions {
		all[c.Type] = c.Status
	}
	return all
}
