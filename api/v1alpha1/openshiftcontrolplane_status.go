package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OpenShiftControlPlaneStatus is what was seen, and where the machine stands. All of it is a cache: what must not be lost is an
// annotation.
// +kubebuilder:validation:MinProperties=1
type OpenShiftControlPlaneStatus struct {
	// conditions tell of the control plane and of the installation.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization is read by Cluster API.
	// +optional
	Initialization ControlPlaneInitialization `json:"initialization,omitempty,omitzero"`

	// selector chooses the control-plane Machines, in the form of a query, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// replicas is the number of control-plane Machines; the bootstrap Machine is in no count.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// readyReplicas is the number of those whose condition Ready is True.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// availableReplicas is the number of those whose condition Available is True.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// upToDateReplicas is the number of those whose condition UpToDate is True.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// version is the guest's version of Kubernetes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// distributionVersion is the guest's version of OpenShift.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	DistributionVersion string `json:"distributionVersion,omitempty"`

	// observedGeneration is the generation of the spec that this status is of.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// bootstrap tells of the bootstrap machine.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`

	// payload tells of what machines are started with, once the inputs are frozen.
	// +optional
	Payload *PayloadStatus `json:"payload,omitempty"`

	StateStatus `json:",inline"`
}

// ControlPlaneInitialization is read by Cluster API.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneInitialization struct {
	// controlPlaneInitialized says that the guest's API has answered. It is never unset.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// BootstrapStatus tells of the bootstrap machine.
// +kubebuilder:validation:MinProperties=1
type BootstrapStatus struct {
	// machineRef is its Machine.
	// +optional
	MachineRef *MachineReference `json:"machineRef,omitempty"`

	// completedAt is when the guest did without it.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// deletedAt is when it was gone.
	// +optional
	DeletedAt *metav1.Time `json:"deletedAt,omitempty"`
}

// MachineReference is a Machine of Cluster API in the same namespace.
type MachineReference struct {
	// name of the Machine.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid tells it from another one of that name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}

// PayloadStatus tells of what machines are started with.
// +kubebuilder:validation:MinProperties=1
type PayloadStatus struct {
	// digest is that of the frozen inputs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Digest string `json:"digest,omitempty"`

	// engine has made it.
	// +optional
	Engine IgnitionEngine `json:"engine,omitempty"`

	// notAfter is until when machines can be started with it.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}

// OpenShiftControlPlane is the control plane of an OpenShift cluster, from the first machine on.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=openshiftcontrolplanes,shortName=ocp,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=control-plane-openshift"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="The Cluster that it is of"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state",description="Where the machine stands"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=`.status.conditions[?(@.type=="Available")].status`,description="Whether the control plane is available"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas",description="How many control-plane machines are wanted"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas",description="How many there are"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas",description="How many of them are ready"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas",description="How many of them are as they are wanted"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether nothing is done for now",priority=10
// +kubebuilder:printcolumn:name="Initialized",type="boolean",JSONPath=".status.initialization.controlPlaneInitialized",description="Whether the guest's API has answered"
// +kubebuilder:printcolumn:name="Waits",type="string",JSONPath=".status.waits",description="What is waited for",priority=10
// +kubebuilder:printcolumn:name="OpenShift",type="string",JSONPath=".status.distributionVersion",description="The guest's version of OpenShift"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.spec.releaseImage == oldSelf.spec.releaseImage || !has(oldSelf.status) || !has(oldSelf.status.payload) || !has(oldSelf.status.payload.digest) || (has(oldSelf.status.state) && oldSelf.status.state in ['Installed', 'Degraded'])",message="releaseImage can be changed until the inputs are frozen, and then in states Installed and Degraded only"
type OpenShiftControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is asked for.
	// +required
	Spec OpenShiftControlPlaneSpec `json:"spec,omitempty,omitzero"`

	// status is what was seen.
	// +optional
	Status OpenShiftControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions, for those who read or set them whatever the kind is.
func (o *OpenShiftControlPlane) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *OpenShiftControlPlane) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// OpenShiftControlPlaneList is a list of them.
//
// +kubebuilder:object:root=true
type OpenShiftControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the objects.
	Items []OpenShiftControlPlane `json:"items"`
}
