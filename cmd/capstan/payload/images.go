package payload

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ConfigMap is the ConfigMap of a name that a release brings. Of what is wrong with other manifests it says nothing.
func ConfigMap(folder fs.FS, name string) (*corev1.ConfigMap, error) {
	p, err := read(folder)
	if err != nil {
		return nil, err
	}
	if found := p.configMap(name); found != nil {
		return found, nil
	}
	return nil, noConfigMap(name)
}

// ConfigMapOf is the same for what files have, by their names. It keeps of one no more than that when it goes on to the next.
func ConfigMapOf(files map[string][]byte, name string) (*corev1.ConfigMap, error) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		p := &payload{}
		p.parse(file, files[file])
		if found := p.configMap(name); found != nil {
			return found, nil
		}
	}
	return nil, noConfigMap(name)
}

func (p *payload) configMap(name string) *corev1.ConfigMap {
	for _, d := range p.documents {
		if d.GetKind() == "ConfigMap" && d.GetName() == name {
			return decode[corev1.ConfigMap](d)
		}
	}
	return nil
}

func noConfigMap(name string) error {
	return fmt.Errorf("reading the payload: there is no ConfigMap %s in it", name)
}
