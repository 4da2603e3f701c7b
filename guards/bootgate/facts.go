// Package bootgate holds the facts that the machine bootgate decides on, and the questions it asks
// of them. Nothing here looks, waits or remembers.
package bootgate

// The names of what the facts are about, as reasons give them.
const (
	Config  = "MachineConfiguration cluster"
	Golden  = "ConfigMap openshift-machine-config-operator/coreos-bootimages"
	Release = "ClusterVersion version"
	// Known is where all images are that were ever golden.
	Known = "ConfigMap capstan-known-images"
)

// Facts is what one look at the cluster has shown. Zero values mean "not seen".
type Facts struct {
	// Blind is why nothing can be looked at, such as a right that lacks; empty if it can.
	Blind    string        `yaml:"blind"`
	Platform Platform      `yaml:"platform"`
	Config   Configuration `yaml:"config"`
	Release  Version       `yaml:"release"`
	Golden   Content       `yaml:"golden"`
}

// Platform is what Infrastructure cluster says. Known is false until it has said something.
type Platform struct {
	Known bool `yaml:"known"`
	// Name is that of the platform's type, such as AWS; StackHub says that it is Azure Stack Hub.
	Name     string `yaml:"name"`
	StackHub bool   `yaml:"stackHub"`
}

// Configuration is the MachineConfiguration. Seen is false until it was looked for.
type Configuration struct {
	Seen   bool `yaml:"seen"`
	Absent bool `yaml:"absent"`
	// Known says that it is known who writes the status; Ours that it is this operator.
	Known bool `yaml:"known"`
	Ours  bool `yaml:"ours"`
	// Differs says what of the status is not what its spec resolves to, empty for nothing. It counts where the status is ours.
	Differs string `yaml:"differs"`
	// Generation is that of the spec, Observed the one that the status speaks of, zero if that was never written.
	Generation int64 `yaml:"generation"`
	Observed   int64 `yaml:"observed"`
	// Problems are what an administrator has to mend: a status that somebody else claims, an annotation that cannot be read.
	// Each names its remedy.
	Problems []string `yaml:"problems"`
}

// Version is the newest entry of the release's history. Seen is false until the ClusterVersion was read.
type Version struct {
	Seen bool `yaml:"seen"`
	// Name is empty if there is no history; State is the entry's, such as Completed.
	Name  string `yaml:"name"`
	State string `yaml:"state"`
}

// Content is the ConfigMap with the golden boot images. Seen is false until it was looked for.
type Content struct {
	Seen   bool `yaml:"seen"`
	Absent bool `yaml:"absent"`
	// Problem says why its stream cannot be read, empty if it can.
	Problem string `yaml:"problem"`
	// Known says that its images are among those that were ever golden.
	Known bool `yaml:"known"`
	// Vouchers are what its keys say of the release that it is for, by key; keys that are not there are left out.
	Vouchers map[string]string `yaml:"vouchers"`
}
