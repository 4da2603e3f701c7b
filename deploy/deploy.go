// Package deploy holds what a cluster needs to run the operator: namespaces,
// ServiceAccount, RBAC, Deployment and the objects the operator reads. It is the
// same set of files that `kubectl apply -k deploy` takes, in the same order. It
// applies nothing, and it leaves the placeholders for images as they are.
package deploy

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var files embed.FS

// File is one of the files that kustomization.yaml lists.
type File struct {
	Name    string
	Objects []*unstructured.Unstructured
}

// Files returns a fresh copy of every file that kustomization.yaml lists, in the
// order of that list. An error names the file and the document, counted from 1.
func Files() ([]File, error) {
	data, err := files.ReadFile("kustomization.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading kustomization.yaml: %w", err)
	}
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(data, &kustomization); err != nil {
		return nil, fmt.Errorf("parsing kustomization.yaml: %w", err)
	}
	var all []File
	for _, name := range kustomization.Resources {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		objects, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("parsing %s: %w", name, err)
		}
		all = append(all, File{name, objects})
	}
	return all, nil
}

// Objects returns the objects of all Files.
func Objects() ([]*unstructured.Unstructured, error) {
	all, err := Files()
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, file := range all {
		objects = append(objects, file.Objects...)
	}
	return objects, nil
}

// BootImages returns the objects of bootimages.yaml, which kustomization.yaml leaves out.
func BootImages() ([]*unstructured.Unstructured, error) {
	const name = "bootimages.yaml"
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	objects, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	return objects, nil
}

// Parse reads the objects of a file.
func Parse(data []byte) ([]*unstructured.Unstructured, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
	var objects []*unstructured.Unstructured
	for document := 1; ; document++ {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("document %d: %w", document, err)
		}
		objects = append(objects, object)
	}
}
