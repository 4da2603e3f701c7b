package machines

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// deletionHook holds the removal of a Machine's infrastructure until etcd does without its member; see the contract of Machine deletion hooks.
const deletionHook = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/openshiftcontrolplane"

// machineKind is that of a Machine in an owner reference.
const machineKind = "Machine"

// masterName is the name of all that is the i-th control-plane machine's, counted from zero.
func masterName(plane string, i int) string { return fmt.Sprintf("%s-%d", plane, i) }

// isName says that a machine of the OpenShiftControlPlane may have a name.
func (s *Seen) isName(name string) bool {
	if name == phases.BootstrapName(s.look.Plane.Name) {
		return true
	}
	for i := range most {
		if name == masterName(s.look.Plane.Name, i) {
			return true
		}
	}
	return false
}

// payloadName is the name of the Secret that holds the payload of a role.
func payloadName(plane string, role v1alpha1.Role) string {
	return fmt.Sprintf("%s-ignition-%s", plane, role)
}

// Selector chooses the control-plane Machines of an OpenShiftControlPlane, without the bootstrap's, in the form of a query.
func Selector(plane *v1alpha1.OpenShiftControlPlane, cluster string) string {
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: fixedLabels(plane.Name, cluster, v1alpha1.MasterRole)})
}

// fixedLabels are those that all of a machine's objects have, whatever its template says.
func fixedLabels(plane, cluster string, role v1alpha1.Role) map[string]string {
	return map[string]string{
		clusterv1.ClusterNameLabel:             cluster,
		clusterv1.MachineControlPlaneLabel:     "",
		clusterv1.MachineControlPlaneNameLabel: format.MustFormatValue(plane),
		v1alpha1.RoleLabel:                     string(role),
	}
}

// labelsOf are those of the template and the fixed ones, which go first.
func labelsOf(plane *v1alpha1.OpenShiftControlPlane, cluster string, role v1alpha1.Role) map[string]string {
	all := maps.Clone(plane.Spec.MachineTemplate.ObjectMeta.Labels)
	if all == nil {
		all = map[string]string{}
	}
	if filter, filtered := plane.Labels[clusterv1.WatchLabel]; filtered {
		all[clusterv1.WatchLabel] = filter // else whoever filters by it would not see what it makes
	}
	maps.Copy(all, fixedLabels(plane.Name, cluster, role))
	return all
}

// annotationsOf are those of the template; those of a bootstrap machine keep health checks off it.
func annotationsOf(plane *v1alpha1.OpenShiftControlPlane, role v1alpha1.Role) map[string]string {
	all := maps.Clone(plane.Spec.MachineTemplate.ObjectMeta.Annotations)
	if role == v1alpha1.BootstrapRole {
		if all == nil {
			all = map[string]string{}
		}
		all[clusterv1.MachineSkipRemediationAnnotation] = ""
	}
	return all
}

// clusterName is the name of the owner, or of the one that is gone.
func clusterName(look phases.Look) string {
	if look.Cluster != nil {
		return look.Cluster.Name
	}
	for _, owner := range look.Plane.OwnerReferences {
		if isKind(owner, clusterv1.GroupVersion.Group, "Cluster") {
			return owner.Name
		}
	}
	return look.Plane.Labels[clusterv1.ClusterNameLabel]
}

func isKind(owner metav1.OwnerReference, group, kind string) bool {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && gv.Group == group && owner.Kind == kind
}

// controlledBy says that an object's controller is the one of that UID.
func controlledBy(object metav1.Object, uid types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.UID == uid
}

// ownedBy says that one of an object's owners is the one of that UID.
func ownedBy(object metav1.Object, uid types.UID) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == uid {
			return true
		}
	}
	return false
}
