package machines

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// nodeDeletionSeconds is what Cluster API's webhook would set, which is not relied on.
const nodeDeletionSeconds = int32(10)

// wanted is a machine as it is to be made.
type wanted struct {
	name string
	role v1alpha1.Role
	// template is that of the infrastructure machine.
	template clusterv1.ContractVersionedObjectReference
	domain   string
}

func (s *Seen) wantedBootstrap() wanted {
	spec := &s.look.Plane.Spec
	w := wanted{
		name: phases.BootstrapName(s.look.Plane.Name), role: v1alpha1.BootstrapRole,
		template: spec.MachineTemplate.Spec.InfrastructureRef, domain: s.domain(0),
	}
	if own := spec.BootstrapMachine.InfrastructureRef; own != nil {
		w.template = *own
	}
	return w
}

func (s *Seen) wantedMaster(i int) wanted {
	return wanted{
		name: masterName(s.look.Plane.Name, i), role: v1alpha1.MasterRole,
		template: s.look.Plane.Spec.MachineTemplate.Spec.InfrastructureRef, domain: s.domain(i),
	}
}

// domain is the failure domain of the i-th machine, in the order of their names: a choice by what there is would depend on what a
// list shows, and so be another one after a restart.
func (s *Seen) domain(i int) string {
	if s.look.Cluster == nil {
		return ""
	}
	var names []string
	for _, one := range s.look.Cluster.Status.FailureDomains {
		if one.ControlPlane != nil && *one.ControlPlane {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return names[i%len(names)]
}

// objectMeta is that of all of a machine's objects.
func (s *Seen) objectMeta(w wanted, owner metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: s.look.Plane.Namespace, Name: w.name,
		Labels: labelsOf(s.look.Plane, s.cluster, w.role), Annotations: annotationsOf(s.look.Plane, w.role),
		OwnerReferences: []metav1.OwnerReference{owner},
	}
}

// owner refers to the OpenShiftControlPlane. It controls Machines; of config and infrastructure machine the Machine becomes the
// controller, so it must not be there before.
func (s *Seen) owner(controls bool) metav1.OwnerReference {
	kind := v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane")
	if controls {
		return *metav1.NewControllerRef(s.look.Plane, kind)
	}
	return metav1.OwnerReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: s.look.Plane.Name, UID: s.look.Plane.UID}
}

func (s *Seen) config(w wanted) *v1alpha1.OpenShiftConfig {
	return &v1alpha1.OpenShiftConfig{
		ObjectMeta: s.objectMeta(w, s.owner(false)),
		Spec: v1alpha1.OpenShiftConfigSpec{
			Role: w.role, ControlPlaneRef: &v1alpha1.LocalReference{Name: s.look.Plane.Name},
		},
	}
}

func (s *Seen) machine(w wanted, infrastructure clusterv1.ContractVersionedObjectReference) *clusterv1.Machine {
	one := &clusterv1.Machine{
		ObjectMeta: s.objectMeta(w, s.owner(true)),
		Spec: clusterv1.MachineSpec{
			ClusterName: s.cluster,
			Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: v1alpha1.GroupVersion.Group, Kind: "OpenShiftConfig", Name: w.name,
			}},
			InfrastructureRef: infrastructure,
			FailureDomain:     w.domain,
		},
	}
	s.settle(one, w.role)
	if w.role == v1alpha1.BootstrapRole {
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, v1alpha1.AttemptAnnotation, s.facts.AttemptID())
	}
	return one
}

// settle sets what may change in place, and leaves what others have added.
func (s *Seen) settle(one *clusterv1.Machine, role v1alpha1.Role) {
	template := s.look.Plane.Spec.MachineTemplate.Spec
	s.dress(&one.ObjectMeta, role, formerly(one))
	delete(one.Annotations, given)
	if text, err := json.Marshal(s.given()); err == nil && string(text) != "{}" {
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, given, string(text))
	}
	if role == v1alpha1.MasterRole && s.hooks() {
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, deletionHook, "")
		s.noteAddresses(one)
	} else {
		delete(one.Annotations, deletionHook)
		delete(one.Annotations, nodeAddresses)
	}
	one.Spec.Deletion = *template.Deletion.DeepCopy()
	if one.Spec.Deletion.NodeDeletionTimeoutSeconds == nil {
		seconds := nodeDeletionSeconds
		one.Spec.Deletion.NodeDeletionTimeoutSeconds = &seconds
	}
	ready := int32(0)
	one.Spec.MinReadySeconds = &ready
	one.Spec.ReadinessGates = slices.Clone(template.ReadinessGates)
	one.Spec.Taints = slices.Clone(template.Taints)
}

// infrastructureKind is the kind that a template is of.
func infrastructureKind(template clusterv1.ContractVersionedObjectReference) string {
	return strings.TrimSuffix(template.Kind, clusterv1.TemplateSuffix)
}
