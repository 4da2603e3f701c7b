// Package privatecapi holds what a cluster needs for private Cluster API types of hosted clusters, beside what package deploy
// holds: the core's definitions, which `capstan private-capi manifests` has made, the shim that converts them, and the fence that
// guards a move. It is the same set of files that `kubectl apply -k deploy/privatecapi` takes, in the same order. It applies
// nothing, and it leaves the placeholder for the image as it is.
package privatecapi

import (
	"embed"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
)

//go:embed *.yaml
var files embed.FS

// Definitions are those of the core's private types.
func Definitions() ([]*unstructured.Unstructured, error) { return parse("crds.yaml") }

// LegacyOperator is what lets the operator retire HyperShift's old one, which kustomization.yaml does not list.
func LegacyOperator() ([]*unstructured.Unstructured, error) { return parse("legacy-operator.yaml") }

// Moving are the objects that a move of a hosted cluster needs: the fence, and the operator's rights, also on HyperShift's old one.
func Moving() ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, name := range []string{"fence.yaml", "migration.yaml", "trials.yaml", "legacy-operator.yaml"} {
		objects, err := parse(name)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// Objects are those of every file that kustomization.yaml lists, in the order of that list.
func Objects() ([]*unstructured.Unstructured, error) {
	text, err := files.ReadFile("kustomization.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading kustomization.yaml: %w", err)
	}
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, fmt.Errorf("parsing kustomization.yaml: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, name := range kustomization.Resources {
		objects, err := parse(name)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

func parse(name string) ([]*unstructured.Unstructured, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	objects, err := deploy.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	return objects, nil
}
