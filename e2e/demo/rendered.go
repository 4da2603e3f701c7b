package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// rendered is a definition of release one's core, as its adopter has it: without anything of Capstan's.
func rendered(ctx context.Context, bin, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	profiles, err := harness.Build(ctx, bin, providers.ReleaseOne)
	if err != nil {
		return nil, err
	}
	arguments := []string{"render", "--platform", string(platform), "--release-version", "4.22.0", "-o", "yaml"}
	for _, profile := range profiles {
		if profile.Component == providers.Core {
			arguments = append(arguments, "--dir", profile.Folder)
		}
	}
	var said bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(bin, "capstan"), arguments...)
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("rendering the definitions of core: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 1<<20)
	for {
		found := &apiextensionsv1.CustomResourceDefinition{}
		switch err := decoder.Decode(found); {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("core has no CustomResourceDefinition %s", name)
		case err != nil:
			return nil, fmt.Errorf("reading the definitions of core: %w", err)
		case found.Kind == "CustomResourceDefinition" && found.Name == name:
			found.ObjectMeta = metav1.ObjectMeta{Name: name, Annotations: foreign(found.Annotations), Labels: foreign(found.Labels)}
			return found, nil
		}
	}
}

// foreign are the labels or annotations that are not Capstan's.
func foreign(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if !strings.HasPrefix(key, "capi-operator.openshift.io/") {
			kept[key] = value
		}
	}
	return kept
}
