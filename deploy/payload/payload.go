// Package payload makes the manifests that an OpenShift release carries out of
// the files that kustomize applies, so that there is one source for both. What
// differs is declared here: names and order of files, the annotations by which the
// cluster-version operator chooses, one replica, images by the tags of the release,
// and what only a release has: image-references, tombstones and requests for
// credentials. It decides nothing else about an object, and knows no cluster.
package payload

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
)

//go:embed image-references tombstones.yaml credentials.yaml
var own embed.FS

const (
	// prefix is the run level at which the release installs Cluster API, and the component.
	prefix = "0000_30_cluster-api-operator_"

	imageReferences = "image-references"
	tombstones      = "tombstones.yaml"
	credentials     = "credentials.yaml"
	// last is what the cluster-version operator waits for.
	last = "clusteroperator.yaml"
)

// everywhere are the annotations of all objects: they come to clusters of the
// profile in which the release defines ClusterAPI, where the feature gate is open
// and the capability is enabled.
var everywhere = map[string]string{
	"include.release.openshift.io/self-managed-high-availability": "true",
	"release.openshift.io/feature-gate":                           "ClusterAPIMachineManagement",
	"capability.openshift.io/name":                                "ClusterAPI",
}

// Files are the payload's, by name.
func Files() (map[string][]byte, error) {
	references, err := own.ReadFile(imageReferences)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", imageReferences, err)
	}
	images, err := parseImages(references)
	if err != nil {
		return nil, err
	}
	sources, err := sources()
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{imageReferences: references}
	for i, source := range sources {
		objects := slices.DeleteFunc(source.Objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "PodDisruptionBudget" })
		if len(objects) == 0 {
			continue
		}
		name := fmt.Sprintf("%s%02d_%s", prefix, i, strings.ReplaceAll(source.Name, "/", "-"))
		if made[name], err = encode(objects, images, source.Name == tombstones); err != nil {
			return nil, fmt.Errorf("making %s: %w", name, err)
		}
	}
	return made, nil
}

// Write writes Files into a folder, which is made when missing.
func Write(dir string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the payload: %w", err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("writing the payload: %w", err)
		}
	}
	return nil
}

// sources are all files in the order in which a release applies them: what is
// taken away first, and what it waits for in the end.
func sources() ([]deploy.File, error) {
	all := make([]deploy.File, 0, 2)
	for _, name := range []string{tombstones, credentials} {
		data, err := own.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		objects, err := deploy.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("parsing %s: %w", name, err)
		}
		all = append(all, deploy.File{Name: name, Objects: objects})
	}
	shared, err := deploy.Files()
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all[:1], shared, all[1:])
	slices.SortStableFunc(all, func(a, b deploy.File) int { return cmp.Compare(rank(a), rank(b)) })
	return all, nil
}

func rank(file deploy.File) int {
	if file.Name == last {
		return 1
	}
	return 0
}

func encode(objects []*unstructured.Unstructured, images images, goes bool) ([]byte, error) {
	documents := make([][]byte, 0, len(objects))
	for _, object := range objects {
		if err := adapt(object, images); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if goes {
			annotate(object, map[string]string{"release.openshift.io/delete": "true"})
		}
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		documents = append(documents, text)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}
