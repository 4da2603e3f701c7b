package providers

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// The releases of releases.yaml. Two has newer versions of the core and of AWS.
const (
	ReleaseOne = "one"
	ReleaseTwo = "two"
)

// The releases of other platforms. The second one has newer versions of the core
// and of GCP.
const (
	CloudsOne = "clouds-one"
	CloudsTwo = "clouds-two"
)

// OpenShift has the core and infrastructure in memory, for clusters of OpenShift.
const OpenShift = "openshift"

// Components; every release has the core.
const (
	Core    = "core-cluster-api"
	AWS     = "infrastructure-aws"
	VSphere = "infrastructure-vsphere"
	PowerVS = "infrastructure-powervs"
	GCP     = "infrastructure-gcp"
	Azure   = "infrastructure-azure"
	Dev     = "infrastructure-dev"
)

//go:embed releases.yaml
var releasesYAML []byte

// component is what does not change from release to release.
type component struct {
	Name         string `json:"name"`
	Type         string `json:"type"`
	Platform     string `json:"platform"`
	InstallOrder int    `json:"installOrder"`
	Module       string `json:"module"`
	// Config is the folder of the module's manifests; empty means config.
	Config       string `json:"config"`
	SelfImageRef string `json:"selfImageRef"`
}

// pin is one version of a component's module and the hash it must have.
type pin struct {
	Version string `json:"version"`
	Sum     string `json:"sum"`
}

type pinned struct {
	component
	pin
}

func (p pinned) module() string { return p.Module + "@" + p.Version }

// components are the pinned components of a release, in the order of releases.yaml.
func components(release string) ([]pinned, error) {
	var file struct {
		Components []component               `json:"components"`
		Releases   map[string]map[string]pin `json:"releases"`
	}
	if err := yaml.UnmarshalStrict(releasesYAML, &file); err != nil {
		return nil, fmt.Errorf("reading releases.yaml: %w", err)
	}
	pins, ok := file.Releases[release]
	if !ok {
		return nil, fmt.Errorf("release %q is not in releases.yaml, which has: %s", release, strings.Join(slices.Sorted(maps.Keys(file.Releases)), ", "))
	}
	all := make([]pinned, 0, len(pins))
	for _, component := range file.Components {
		if pin, has := pins[component.Name]; has {
			all = append(all, pinned{component, pin})
		}
	}
	if len(all) < len(pins) {
		return nil, fmt.Errorf("releases.yaml: release %s pins a component that is not listed", release)
	}
	return all, nil
}
