package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Role is what a machine is started as.
// +kubebuilder:validation:Enum=bootstrap;master;worker
type Role string

// The roles, by the names that Ignition configs have in OpenShift.
const (
	BootstrapRole Role = "bootstrap"
	MasterRole    Role = "master"
	WorkerRole    Role = "worker"
)

// OpenShiftConfigSpec says what a machine is started with.
type OpenShiftConfigSpec struct {
	// role chooses the Ignition config.
	// +required
	Role Role `json:"role,omitempty"`

	// controlPlaneRef names the OpenShiftControlPlane whose payload it is; that of the Cluster unless set.
	// +optional
	ControlPlaneRef *LocalReference `json:"controlPlaneRef,omitempty"`

	// overridesSecretRef names a Secret with Ignition, in key value, that is merged into the config.
	// +optional
	OverridesSecretRef *LocalReference `json:"overridesSecretRef,omitempty"`
}

// OpenShiftConfigStatus is what was made, and where the machine stands.
// +kubebuilder:validation:MinProperties=1
type OpenShiftConfigStatus struct {
	// conditions tell of the config.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization is read by Cluster API.
	// +optional
	Initialization ConfigInitialization `json:"initialization,omitempty,omitzero"`

	// dataSecretName is the Secret that the machine is started with.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DataSecretName string `json:"dataSecretName,omitempty"`

	// observedGeneration is the generation of the spec that this status is of.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	StateStatus `json:",inline"`
}

// ConfigInitialization is read by Cluster API.
// +kubebuilder:validation:MinProperties=1
type ConfigInitialization struct {
	// dataSecretCreated says that the machine can be started.
	// +optional
	DataSecretCreated *bool `json:"dataSecretCreated,omitempty"`
}

// OpenShiftConfig is what one machine of an OpenShift cluster is started with.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=openshiftconfigs,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=bootstrap-openshift"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="The Cluster that it is of"
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".spec.role",description="What the machine is started as"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state",description="Where the machine stands"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether nothing is done for now",priority=10
// +kubebuilder:printcolumn:name="Data secret created",type="string",JSONPath=`.status.initialization.dataSecretCreated`,description="Whether the machine can be started"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type OpenShiftConfig struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is asked for.
	// +required
	Spec OpenShiftConfigSpec `json:"spec,omitempty,omitzero"`

	// status is what was made.
	// +optional
	Status OpenShiftConfigStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions, for those who read or set them whatever the kind is.
func (o *OpenShiftConfig) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *OpenShiftConfig) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// OpenShiftConfigList is a list of them.
//
// +kubebuilder:object:root=true
type OpenShiftConfigList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the objects.
	Items []OpenShiftConfig `json:"items"`
}

// OpenShiftConfigTemplateSpec is what configs are made of.
type OpenShiftConfigTemplateSpec struct {
	// template of a config.
	// +required
	Template OpenShiftConfigTemplateResource `json:"template,omitempty,omitzero"`
}

// OpenShiftConfigTemplateResource is what a config is made of.
type OpenShiftConfigTemplateResource struct {
	// metadata goes to every config.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec goes to every config.
	// +required
	Spec OpenShiftConfigSpec `json:"spec,omitempty,omitzero"`
}

// OpenShiftConfigTemplate is what the configs of a MachineDeployment are cloned from. It may be changed: machines that exist keep
// what they were started with.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=openshiftconfigtemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=bootstrap-openshift"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=`.metadata.ownerReferences[?(@.kind=="Cluster")].name`,description="The Cluster that owns it"
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".spec.template.spec.role",description="What machines are started as"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type OpenShiftConfigTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what configs are made of.
	// +required
	Spec OpenShiftConfigTemplateSpec `json:"spec,omitempty,omitzero"`
}

// OpenShiftConfigTemplateList is a list of them.
//
// +kubebuilder:object:root=true
type OpenShiftConfigTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the objects.
	Items []OpenShiftConfigTemplate `json:"items"`
}
