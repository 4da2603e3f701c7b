package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// LocalReference names an object in the same namespace.
type LocalReference struct {
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// StateStatus is where a machine stands, for people, and what it remembers, for itself.
type StateStatus struct {
	// state of the machine, such as Bootstrapping; its page in docs/state-diagrams says what it means.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`

	// since is when the state was entered.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// waits says what is waited for.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Waits string `json:"waits,omitempty"`

	// deadline is when waiting ends by itself, if nothing happens until then.
	// +optional
	Deadline *Deadline `json:"deadline,omitempty"`

	// lastFailure is the error that the machine met last, and has not overcome.
	// +optional
	LastFailure *Failure `json:"lastFailure,omitempty"`

	// machine is the record of the machine. Nobody else has to read it, and what is written here by others is not believed
	// where the object's marks or the world say otherwise.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Machine runtime.RawExtension `json:"machine,omitempty,omitzero"`
}

// Deadline is the end of a wait.
type Deadline struct {
	// at is when it comes.
	// +required
	At metav1.Time `json:"at,omitempty,omitzero"`

	// to is the state that follows then.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	To string `json:"to,omitempty"`
}

// Failure is an error that work has met.
type Failure struct {
	// message says what failed, without anything secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// since is when it was met first, without a success since.
	// +required
	Since metav1.Time `json:"since,omitempty,omitzero"`

	// terminal says that trying again at once does not help.
	// +optional
	Terminal *bool `json:"terminal,omitempty"`
}
