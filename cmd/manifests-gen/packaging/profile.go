// Package packaging turns a kustomization into a profile: the objects fitted to
// OpenShift in manifests.yaml, and what Capstan must know about them in
// metadata.yaml. It refuses objects that it cannot fit, duplicates and empty
// profiles, naming the object and the field; it never talks to a cluster and
// never fills in ${...} substitutions.
package packaging

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"go.yaml.in/yaml/v3"
)

// The names of a profile's two files.
const (
	MetadataFile  = "metadata.yaml"
	ManifestsFile = "manifests.yaml"
)

// Metadata is the content of metadata.yaml, keys in the order of its fields.
type Metadata struct {
	Name         string                `yaml:"name"`
	InstallOrder int                   `yaml:"installOrder"`
	OCPPlatform  configv1.PlatformType `yaml:"ocpPlatform,omitempty"`
	SelfImageRef string                `yaml:"selfImageRef,omitempty"`
	Attributes   map[string]string     `yaml:"attributes,omitempty"`
}

// Profile is a packaged kustomization, not yet on disk.
type Profile struct {
	// Metadata and Manifests are the bytes of the two files.
	Metadata, Manifests []byte
	// Objects is the number of documents in Manifests.
	Objects int
}

// Build runs kustomize on o.KustomizeDir and fits the result to OpenShift; it writes nothing.
func Build(o Options) (*Profile, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	objects, err := kustomize(o.KustomizeDir)
	if err != nil {
		return nil, err
	}
	objects, err = Transform(objects)
	if err != nil {
		return nil, fmt.Errorf("packaging %s: %w", o.KustomizeDir, err)
	}
	manifests, err := encode(objects)
	if err != nil {
		return nil, fmt.Errorf("packaging %s: %w", o.KustomizeDir, err)
	}
	if !bytes.Contains(manifests, []byte(o.SelfImageRef)) {
		return nil, fmt.Errorf("packaging %s: no object mentions the image of --self-image-ref %s; the containers use %s: set it with 'images' in the kustomization",
			o.KustomizeDir, o.SelfImageRef, strings.Join(images(objects), ", "))
	}
	metadata, err := encodeMetadata(o)
	if err != nil {
		return nil, err
	}
	return &Profile{Metadata: metadata, Manifests: manifests, Objects: len(objects)}, nil
}

// Write stores the two files as manifestsPath/name and returns that folder. The
// manifests are written first, so that an interrupted first run never looks complete.
func (p *Profile) Write(manifestsPath, name string) (string, error) {
	folder := filepath.Join(manifestsPath, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("creating the profile's folder: %w", err)
	}
	for _, file := range []struct {
		name    string
		content []byte
	}{{ManifestsFile, p.Manifests}, {MetadataFile, p.Metadata}} {
		if err := os.WriteFile(filepath.Join(folder, file.name), file.content, 0o644); err != nil {
			return "", fmt.Errorf("writing the profile: %w", err)
		}
	}
	return folder, nil
}

func encodeMetadata(o Options) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(Metadata{
		Name:         o.Name,
		InstallOrder: o.InstallOrder,
		OCPPlatform:  o.Platform,
		SelfImageRef: o.SelfImageRef,
		Attributes:   o.Attributes,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", MetadataFile, err)
	}
	return out.Bytes(), nil
}
