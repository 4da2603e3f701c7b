package golden

import (
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// prefix is that of all our labels and annotations.
const prefix = "capi-operator.openshift.io/"

// Annotations that people write on targets.
const (
	// AdoptAnnotation names the present image, which is replaced though nothing else tells that it is a release's own. Of
	// several images it is a list with commas.
	AdoptAnnotation = prefix + "boot-image-adopt"
	// AllowRolloutAnnotation lets a write replace machines that run.
	AllowRolloutAnnotation = prefix + "boot-image-allow-rollout"
)

// Kind is the kind of a target, as kubectl takes it.
type Kind string

// The kinds.
const (
	MachineSets             Kind = "machinesets.machine.openshift.io"
	ControlPlaneMachineSets Kind = "controlplanemachinesets.machine.openshift.io"
	CAPIMachineSets         Kind = "machinesets.cluster.x-k8s.io"
	MachineDeployments      Kind = "machinedeployments.cluster.x-k8s.io"
)

// onDelete is the strategy by which a controller replaces no machine by itself; all kinds spell it alike.
const onDelete = "OnDelete"

// Target is what a verdict needs of an object that is a template of machines.
type Target struct {
	Kind            Kind
	Namespace, Name string
	UID             types.UID
	Annotations     map[string]string
	// Strategy is how machines are replaced; only a ControlPlaneMachineSet and a MachineDeployment have one.
	Strategy string
	// ProviderSpec is the JSON that a target of Machine API holds.
	ProviderSpec []byte
	// InfrastructureRef and Template are what a target of Cluster API holds and what that leads to; Template is nil if there is
	// no such object.
	InfrastructureRef map[string]any
	Template          *unstructured.Unstructured
}

// FromMachineSet is a MachineSet of Machine API as a target.
func FromMachineSet(set *machinev1beta1.MachineSet) *Target {
	t := described(MachineSets, set)
	t.ProviderSpec = raw(&set.Spec.Template.Spec)
	return t
}

// FromControlPlane is a ControlPlaneMachineSet as a target.
func FromControlPlane(set *machinev1.ControlPlaneMachineSet) *Target {
	t := described(ControlPlaneMachineSets, set)
	t.Strategy = string(set.Spec.Strategy.Type)
	if template := set.Spec.Template.OpenShiftMachineV1Beta1Machine; template != nil {
		t.ProviderSpec = raw(&template.Spec)
	}
	return t
}

// FromClusterAPI is a MachineSet or MachineDeployment of Cluster API (v1beta2) as a target, with the template that its
// infrastructureRef names, or nil if there is none. It shares both with the target.
func FromClusterAPI(kind Kind, object, template *unstructured.Unstructured) *Target {
	t := described(kind, object)
	t.Template = template
	if kind == MachineDeployments {
		t.Strategy, _, _ = unstructured.NestedString(object.Object, "spec", "rollout", "strategy", "type")
	}
	if ref, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec", "infrastructureRef"); found && err == nil {
		t.InfrastructureRef, _ = ref.(map[string]any)
	}
	return t
}

func described(kind Kind, object metav1.Object) *Target {
	return &Target{
		Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Annotations: object.GetAnnotations(),
	}
}

func raw(spec *machinev1beta1.MachineSpec) []byte {
	if spec.ProviderSpec.Value == nil {
		return nil
	}
	return spec.ProviderSpec.Value.Raw
}

// ofMachineAPI says that the target holds a provider spec.
func (t *Target) ofMachineAPI() bool {
	return t.Kind == MachineSets || t.Kind == ControlPlaneMachineSets
}

// path is where the target holds its provider spec, or its reference to a template.
func (t *Target) path(keys ...string) string {
	switch t.Kind {
	case MachineSets:
		return pointer("spec", "template", "spec", "providerSpec", "value") + pointer(keys...)
	case ControlPlaneMachineSets:
		return pointer("spec", "template", string(machinev1.OpenShiftMachineV1Beta1MachineType), "spec", "providerSpec", "value") + pointer(keys...)
	default:
		return pointer("spec", "template", "spec", "infrastructureRef") + pointer(keys...)
	}
}
