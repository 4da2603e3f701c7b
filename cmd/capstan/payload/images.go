package payload

import (
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
)

// ConfigMap is the ConfigMap of a name that a release brings. Of what is wrong with other manifests it says nothing.
func ConfigMap(folder fs.FS, name string) (*corev1.ConfigMap, error) {
	p, err := read(folder)
	if err != nil {
		return nil, err
	}
	for _, d := range p.documents {
		if d.GetKind() == "ConfigMap" && d.GetName() == name {
			return decode[corev1.ConfigMap](d), nil
		}
	}
	return nil, fmt.Errorf("reading the payload: there is no ConfigMap %s in it", name)
}
