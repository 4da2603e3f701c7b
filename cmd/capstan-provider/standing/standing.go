package standing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

// The kinds that a cluster is made of.
var (
	ControlPlanes = v1alpha1.GroupVersion.WithResource("openshiftcontrolplanes")
	Configs       = v1alpha1.GroupVersion.WithResource("openshiftconfigs")
	Clusters      = clusterv1.GroupVersion.WithResource("clusters")
	Machines      = clusterv1.GroupVersion.WithResource("machines")
)

// Key reads NAMESPACE/NAME.
func Key(text string) (types.NamespacedName, error) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Subdomain(name)) > 0 {
		return types.NamespacedName{}, fmt.Errorf("%q is not of the form NAMESPACE/NAME, such as fleet/example", text)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// ClusterOf is the name of the Cluster of an OpenShiftControlPlane, empty while nobody says which it is.
func ClusterOf(plane *v1alpha1.OpenShiftControlPlane) string {
	for _, owner := range plane.OwnerReferences {
		if group, err := schema.ParseGroupVersion(owner.APIVersion); err == nil && group.Group == clusterv1.GroupVersion.Group && owner.Kind == "Cluster" {
			return owner.Name
		}
	}
	return plane.Labels[clusterv1.ClusterNameLabel]
}

// RecordOf is what the machine remembers, as far as its status goes along with it: the zero record if it does not.
func RecordOf(plane *v1alpha1.OpenShiftControlPlane) machine.Record {
	var record machine.Record
	if err := json.Unmarshal(plane.Status.Machine.Raw, &record); err != nil || string(record.State) != plane.Status.State {
		return machine.Record{}
	}
	return record
}

// negative are the conditions that are False as long as nothing is the matter.
var negative = []string{
	"Deleting", "InputsDrifted", "Paused", "Remediating", "RollingOut", "ScalingDown", "ScalingUp", "Updating",
}

// IsAmiss says that a condition is not as it is of a cluster at rest. What nobody knows yet is not.
func IsAmiss(c metav1.Condition) bool {
	if slices.Contains(negative, c.Type) {
		return c.Status == metav1.ConditionTrue
	}
	return c.Status == metav1.ConditionFalse
}

// Sorted are conditions by their types.
func Sorted(conditions []metav1.Condition) []metav1.Condition {
	return slices.SortedStableFunc(slices.Values(conditions), func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
}
