package v1alpha1

// Annotations that people set on an OpenShiftControlPlane.
const (
	// RetryAnnotation asks for another try of what has failed, by each new value. One that begins with [FromScratch] asks that all
	// that the attempt has made be deleted before.
	RetryAnnotation = "capstan.openshift.io/retry"
	FromScratch     = "from-scratch"
)

// Marks are annotations that the machine sets on an OpenShiftControlPlane before it does what they allow. They outlive the
// status, which a move to another management plane drops.
const (
	// InputsMark is the digest of the inputs, which are frozen from then on.
	InputsMark = "capstan.openshift.io/inputs"
	// BootstrapMark is [BootstrapIntended] before the bootstrap Machine is created, and its UID after.
	BootstrapMark     = "capstan.openshift.io/bootstrap"
	BootstrapIntended = "intended"
	// InitializedMark says that the API of the guest has answered, BootstrapFinishedMark that the guest does without its bootstrap
	// Machine.
	InitializedMark       = "capstan.openshift.io/initialized"
	BootstrapFinishedMark = "capstan.openshift.io/bootstrap-finished"
)

// ManifestsDirectoryAnnotation says on a Secret of manifests where they go: manifests or openshift.
const ManifestsDirectoryAnnotation = "manifests.capstan.openshift.io/directory"
