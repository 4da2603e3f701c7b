package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ReleaseImagePolicy says how a release image has to be named.
// +kubebuilder:validation:Enum=Digest;Tag
type ReleaseImagePolicy string

// Digest wants a release image by its digest, so that it cannot become another one; Tag allows a tag.
const (
	DigestPolicy ReleaseImagePolicy = "Digest"
	TagPolicy    ReleaseImagePolicy = "Tag"
)

// Management says who has the say over control-plane Machines once the cluster is installed.
// +kubebuilder:validation:Enum=Handover;Managed
type Management string

// Handover leaves them to the guest, and they are written only to be deleted; Managed has them scaled and remediated from here.
const (
	Handover Management = "Handover"
	Managed  Management = "Managed"
)

// OpenShiftControlPlaneSpec is what is asked for.
// +kubebuilder:validation:XValidation:rule="(has(self.releaseImagePolicy) && self.releaseImagePolicy == 'Tag') || self.releaseImage.matches('@sha256:[a-f0-9]{64}$')",message="releaseImage needs a digest (@sha256:...), unless releaseImagePolicy is Tag"
// +kubebuilder:validation:XValidation:rule="self.management == 'Managed' || self.replicas == oldSelf.replicas",message="replicas cannot be changed while management is Handover"
type OpenShiftControlPlaneSpec struct {
	// releaseImage is the OpenShift release. It can be changed until the inputs are frozen, and then in states Installed and
	// Degraded only, which asks for an upgrade.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ReleaseImage string `json:"releaseImage,omitempty"`

	// releaseImagePolicy says whether releaseImage needs a digest.
	// +optional
	// +kubebuilder:default=Digest
	ReleaseImagePolicy ReleaseImagePolicy `json:"releaseImagePolicy,omitempty"`

	// replicas is the number of control-plane machines; the bootstrap machine is none of them.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Enum=1;3;5
	Replicas *int32 `json:"replicas,omitempty"`

	// machineTemplate says what control-plane machines are made of.
	// +required
	MachineTemplate MachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// bootstrapMachine says how the temporary bootstrap machine differs from those.
	// +optional
	// +kubebuilder:default={deletePolicy: OnComplete}
	BootstrapMachine BootstrapMachine `json:"bootstrapMachine,omitempty,omitzero"`

	// installStateSecretRef names the Secret with install-config.yaml, .openshift_install_state.json, or both.
	// +required
	InstallStateSecretRef LocalReference `json:"installStateSecretRef,omitempty,omitzero"`

	// manifestsSelector chooses Secrets with more manifests by their labels; none are chosen without it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)",message="an empty selector would choose every Secret: name labels, or leave it out"
	ManifestsSelector *metav1.LabelSelector `json:"manifestsSelector,omitempty"`

	// ignition says how the payload is made and delivered.
	// +optional
	// +kubebuilder:default={engine: Builtin, delivery: Secret}
	Ignition Ignition `json:"ignition,omitempty,omitzero"`

	// machineConfigServer says where machines get their configuration.
	// +optional
	MachineConfigServer *MachineConfigServer `json:"machineConfigServer,omitempty"`

	// management says who has the say over control-plane Machines once the cluster is installed.
	// +optional
	// +kubebuilder:default=Handover
	Management Management `json:"management,omitempty"`

	// hooks are conditions on the Cluster, set by others, that are waited for.
	// +optional
	// +listType=map
	// +listMapKey=phase
	// +listMapKey=conditionType
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Hooks []Hook `json:"hooks,omitempty"`

	// timeouts are how long a state may go on without progress, where the usual time does not fit.
	// +optional
	Timeouts *Timeouts `json:"timeouts,omitempty"`
}

// MachineTemplate says what control-plane machines are made of, in the shape that Cluster API asks for.
type MachineTemplate struct {
	// metadata goes to every Machine, and is kept up to date there.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec goes to every Machine.
	// +required
	Spec MachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// MachineTemplateSpec is what every control-plane Machine gets.
type MachineTemplateSpec struct {
	// infrastructureRef names the template in this namespace that infrastructure machines are cloned from.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="infrastructureRef cannot be changed"
	// +kubebuilder:validation:XValidation:rule="self.kind.endsWith('Template')",message="the kind of infrastructureRef has to end in Template"
	InfrastructureRef clusterv1.ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// readinessGates are further conditions of a Machine that is ready.
	// +optional
	// +listType=map
	// +listMapKey=conditionType
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	ReadinessGates []clusterv1.MachineReadinessGate `json:"readinessGates,omitempty"`

	// deletion bounds what the deletion of a Machine waits for.
	// +optional
	Deletion clusterv1.MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// taints are kept on Nodes.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}

// DeletePolicy says what becomes of the bootstrap machine.
// +kubebuilder:validation:Enum=OnComplete;Retain
type DeletePolicy string

// OnComplete deletes it once the guest does without it; Retain keeps it.
const (
	OnComplete DeletePolicy = "OnComplete"
	Retain     DeletePolicy = "Retain"
)

// BootstrapMachine says how the temporary bootstrap machine is made and removed.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="has(self.infrastructureRef) == has(oldSelf.infrastructureRef)",message="infrastructureRef cannot be added or taken away"
type BootstrapMachine struct {
	// infrastructureRef names another template than that of the control plane.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="infrastructureRef cannot be changed"
	// +kubebuilder:validation:XValidation:rule="self.kind.endsWith('Template')",message="the kind of infrastructureRef has to end in Template"
	InfrastructureRef *clusterv1.ContractVersionedObjectReference `json:"infrastructureRef,omitempty"`

	// deletePolicy says what becomes of it.
	// +optional
	// +kubebuilder:default=OnComplete
	DeletePolicy DeletePolicy `json:"deletePolicy,omitempty"`

	// sequential has the control-plane machines made only once the bootstrap machine is provisioned.
	// +optional
	Sequential *bool `json:"sequential,omitempty"`
}

// IgnitionEngine says what makes a payload.
// +kubebuilder:validation:Enum=Builtin;InstallerJob
type IgnitionEngine string

// Builtin makes a payload in this process; InstallerJob has a Job run the installer's own image.
const (
	Builtin      IgnitionEngine = "Builtin"
	InstallerJob IgnitionEngine = "InstallerJob"
)

// IgnitionDelivery says how a machine gets a payload that is too large for a Secret.
// +kubebuilder:validation:Enum=Secret;Stub
type IgnitionDelivery string

// SecretDelivery refuses it; StubDelivery gives the machine a URL and a hash in its place.
const (
	SecretDelivery IgnitionDelivery = "Secret"
	StubDelivery   IgnitionDelivery = "Stub"
)

// Ignition says how the payload is made and delivered.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="self.engine != 'InstallerJob' || has(self.installerImage)",message="engine InstallerJob needs an installerImage"
type Ignition struct {
	// engine is what makes it.
	// +optional
	// +kubebuilder:default=Builtin
	Engine IgnitionEngine `json:"engine,omitempty"`

	// installerImage is what engine InstallerJob runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	InstallerImage string `json:"installerImage,omitempty"`

	// delivery says what is done with a payload above 1 MiB.
	// +optional
	// +kubebuilder:default=Secret
	Delivery IgnitionDelivery `json:"delivery,omitempty"`
}

// MachineConfigServer is where machines get their configuration.
type MachineConfigServer struct {
	// host in place of api-int and the cluster's domain.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9.:\[\]-]+$`
	Host string `json:"host,omitempty"`
}

// HookPhase says before what a hook is waited for.
// +kubebuilder:validation:Enum=PostInfrastructure;PreBootstrapRemoval
type HookPhase string

// PostInfrastructure is after the infrastructure is provisioned, and before anything is made; PreBootstrapRemoval is before the
// bootstrap machine goes.
const (
	PostInfrastructure  HookPhase = "PostInfrastructure"
	PreBootstrapRemoval HookPhase = "PreBootstrapRemoval"
)

// Hook is a condition on the Cluster that is waited for.
type Hook struct {
	// phase says before what.
	// +required
	Phase HookPhase `json:"phase,omitempty"`

	// conditionType is that of the condition, which others set to True.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	ConditionType string `json:"conditionType,omitempty"`

	// timeoutSeconds is for how long it is waited; that of the state AwaitingInfrastructure unless set, and 300 for one before the removal
	// of the bootstrap machine.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
}

// Timeouts are how many seconds a state may go on without progress.
// +kubebuilder:validation:MinProperties=1
type Timeouts struct {
	// infrastructureSeconds is that of AwaitingInfrastructure; 900 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	InfrastructureSeconds *int32 `json:"infrastructureSeconds,omitempty"`

	// inputsSeconds is that of ResolvingInputs; 900 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	InputsSeconds *int32 `json:"inputsSeconds,omitempty"`

	// ignitionSeconds is that of GeneratingIgnition; 600 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	IgnitionSeconds *int32 `json:"ignitionSeconds,omitempty"`

	// machinesSeconds is that of CreatingMachines; 900 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	MachinesSeconds *int32 `json:"machinesSeconds,omitempty"`

	// apiSeconds is that of AwaitingAPI; 1200 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	APISeconds *int32 `json:"apiSeconds,omitempty"`

	// bootstrapSeconds is that of Bootstrapping; 2700 unless set, and 3600 on bare metal and vSphere.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	BootstrapSeconds *int32 `json:"bootstrapSeconds,omitempty"`

	// operatorsSeconds is that of Settling; 2400 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	OperatorsSeconds *int32 `json:"operatorsSeconds,omitempty"`

	// upgradeSeconds is that of Upgrading; 10800 unless set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	UpgradeSeconds *int32 `json:"upgradeSeconds,omitempty"`
}
