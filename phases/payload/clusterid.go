package payload

import (
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

const (
	// clusterVersionPath is where a bootstrap machine has the manifest of its ClusterVersion. OpenShift's installer has it there, too.
	clusterVersionPath = "/opt/openshift/manifests/cvo-overrides.yaml"
	// clusterIDMost is how long a cluster's ID may be, in bytes: it is a UUID.
	clusterIDMost = 64
)

// ClusterID is the UUID by which a cluster knows itself that a bootstrap config makes, empty where the config does not tell.
func ClusterID(bootstrap []byte) string {
	manifest, err := ignition.FileOf(bootstrap, clusterVersionPath)
	if err != nil {
		return ""
	}
	var version struct {
		Spec struct {
			ClusterID string `json:"clusterID"`
		} `json:"spec"`
	}
	if yaml.Unmarshal(manifest, &version) != nil || len(version.Spec.ClusterID) > clusterIDMost {
		return ""
	}
	return version.Spec.ClusterID
}
