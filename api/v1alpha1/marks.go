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
	// ClearingMark says that the attempt is being cleared away, from before anything of it is deleted until all of it is gone. Its
	// value tells which value of [RetryAnnotation] has asked for that, which is in ServedMark from then on: it does not ask again.
	ClearingMark = "capstan.openshift.io/clearing"
	ServedMark   = "capstan.openshift.io/retry-served"
)

// AttemptAnnotation says on the bootstrap Machine of which attempt it is. It stays what it is where the Machine gets another UID, by a
// move to another management plane or a restore.
const AttemptAnnotation = "capstan.openshift.io/attempt"

// PayloadURLAnnotation is set by people on the Secret of a payload that is too large to be handed to a machine: where they have uploaded
// the Ignition config to, byte by byte. It counts where spec.ignition.delivery is Stub.
const PayloadURLAnnotation = "capstan.openshift.io/payload-url"

// OverridesKey is where a Secret has Ignition that spec.overridesSecretRef has merged.
const OverridesKey = "value"

// ManifestsDirectoryAnnotation says on a Secret of manifests where they go: manifests or openshift.
const ManifestsDirectoryAnnotation = "manifests.capstan.openshift.io/directory"

// Annotations of the Secrets that a payload is kept in.
const (
	// PayloadInputsAnnotation is the digest of the inputs that a payload was made of, PayloadNotAfterAnnotation until when machines
	// can be started with it, in the form of RFC 3339, and PayloadSumAnnotation the sha256 of its Ignition config in hex: of
	// all three, one after the other, beside keys and what an installer has made.
	PayloadInputsAnnotation   = "capstan.openshift.io/payload-inputs"
	PayloadNotAfterAnnotation = "capstan.openshift.io/payload-not-after"
	PayloadSumAnnotation      = "capstan.openshift.io/payload-sha256"
	// PayloadVersionsAnnotation tells in which versions the inputs were when the payload was made: as long as they have the same, they
	// have not drifted, and need not be read.
	PayloadVersionsAnnotation = "capstan.openshift.io/payload-versions"
	// PayloadPlatformAnnotation is the platform of the inputs when the payload was made: how long a bootstrap may take rests on it.
	PayloadPlatformAnnotation = "capstan.openshift.io/payload-platform"
	// PayloadClusterIDAnnotation is the UUID that the payload has the cluster know itself by: a guest with another one is another
	// cluster.
	PayloadClusterIDAnnotation = "capstan.openshift.io/payload-cluster-id"
)

// RoleLabel says on the objects of a control-plane machine what it is started as: bootstrap or master. The bootstrap Machine has
// Cluster API's label of control-plane Machines, too, so that load balancers know it.
const RoleLabel = "capstan.openshift.io/role"

// Finalizer keeps an OpenShiftControlPlane until all that was made for it is gone.
const Finalizer = "openshiftcontrolplane.cluster.openshift.io"
