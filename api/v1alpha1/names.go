package v1alpha1

// PayloadSecretName is that of the Secret with the Ignition config of a role, which the OpenShiftControlPlane has made and controls.
func PayloadSecretName(plane string, role Role) string { return plane + "-ignition-" + string(role) }

// Keys of Secrets. Both those of the payload and those that machines are started with have the Ignition config in DataKey; the latter
// say in FormatKey that it is [IgnitionFormat], since infrastructure providers ask. OverridesKey is where a Secret has Ignition that
// is to be merged.
const (
	DataKey        = "value"
	FormatKey      = "format"
	IgnitionFormat = "ignition"
	OverridesKey   = "value"
)
