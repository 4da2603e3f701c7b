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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	// Summary is that of SummaryFile; nil when it was not asked for.
	Summary []byte
	// Objects is the number of documents in Manifests.
	Objects int

	report report
}

// Build runs kustomize on o.KustomizeDir and fits the result to OpenShift; it writes nothing.
func Build(o Options) (*Profile, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	built, err := kustomize(o.KustomizeDir)
	if err != nil {
		return nil, err
	}
	profile, err := build(o, built)
	if err != nil {
		return nil, fmt.Errorf("packaging %s: %w", o.KustomizeDir, err)
	}
	return profile, nil
}

func build(o Options, built []*unstructured.Unstructured) (*Profile, error) {
	report, err := assemble(o, built)
	if err != nil {
		return nil, err
	}
	profile := &Profile{Objects: len(report.objects), report: report}
	if profile.Manifests, err = encode(report.objects); err != nil {
		return nil, err
	}
	if !bytes.Contains(profile.Manifests, []byte(o.SelfImageRef)) {
		return nil, fmt.Errorf("no object mentions the image of --self-image-ref %s; the containers use %s: set it with 'images' in the kustomization",
			o.SelfImageRef, strings.Join(images(report.objects), ", "))
	}
	if o.ManifestsSummary {
		if profile.Summary, err = encodeSummary(report.objects); err != nil {
			return nil, err
		}
	}
	profile.Metadata, err = encodeMetadata(o)
	return profile, err
}

// assemble makes the objects of the profile. Exclusion comes first, so that what
// is excluded need not be fitted; renaming comes last, when all references exist.
func assemble(o Options, built []*unstructured.Unstructured) (r report, err error) {
	objects, settings, err := takeSettings(built)
	if err != nil {
		return report{}, err
	}
	if objects, r.excluded, err = exclude(objects, settings.exclude); err != nil {
		return report{}, err
	}
	if objects, err = Transform(objects); err != nil {
		return report{}, err
	}
	protection, err := protect(objects, o.ProtectClusterResource)
	if err != nil {
		return report{}, err
	}
	objects, r.protection = append(objects, protection.objects...), protection
	if r.renamed, err = rename(objects, settings.rename); err != nil {
		return report{}, err
	}
	sortObjects(objects)
	r.objects = objects
	return r, refuseDuplicates(objects)
}

// profileFile is a file of a profile.
type profileFile struct {
	name    string
	content []byte
}

// files are in the order in which they are written: the metadata after the
// manifests, so that an interrupted first run never looks complete.
func (p *Profile) files() []profileFile {
	files := []profileFile{{ManifestsFile, p.Manifests}, {MetadataFile, p.Metadata}}
	if p.Summary != nil {
		files = append(files, profileFile{SummaryFile, p.Summary})
	}
	return files
}

// Write stores the files as manifestsPath/name and returns that folder.
func (p *Profile) Write(manifestsPath, name string) (string, error) {
	folder := filepath.Join(manifestsPath, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("creating the profile's folder: %w", err)
	}
	for _, file := range p.files() {
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
