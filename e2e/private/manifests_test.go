package private_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/crds"
)

// manifests are what a component brings, as its authors published it.
type manifests struct {
	definitions []*apiextensionsv1.CustomResourceDefinition
	role        rbacv1.ClusterRole
	mutating    admissionregistrationv1.MutatingWebhookConfiguration
	validating  admissionregistrationv1.ValidatingWebhookConfiguration
}

// moduleFolder is where the Go client keeps a module that another one requires.
func moduleFolder(ctx context.Context, requiring, module string) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-C", requiring, "-m", "-f", "{{if .Replace}}{{.Replace.Dir}}{{else}}{{.Dir}}{{end}}", module)
	list.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("finding module %s: %w: %s", module, err, stderr.Bytes())
	}
	folder := strings.TrimSpace(string(out))
	if folder == "" {
		return "", fmt.Errorf("module %s is not downloaded: run make worlds", module)
	}
	return folder, nil
}

// readManifests reads the config folder of a component's source.
func readManifests(folder string) (manifests, error) {
	var m manifests
	labels, err := labelsOfDefinitions(folder)
	if err != nil {
		return m, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		return m, fmt.Errorf("finding the definitions in %s: %w", folder, errors.Join(err, os.ErrNotExist))
	}
	for _, file := range files {
		if err := m.read(file); err != nil {
			return m, err
		}
	}
	for _, definition := range m.definitions {
		definition.Labels = labels
		definition.Spec.Conversion = conversionOf(definition)
	}
	return m, errors.Join(
		m.read(filepath.Join(folder, "rbac", "role.yaml")),
		m.read(filepath.Join(folder, "webhook", "manifests.yaml")),
	)
}

// conversionOf is what the kustomization says of what has several versions.
func conversionOf(definition *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceConversion {
	if len(definition.Spec.Versions) == 1 {
		return &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	path := "/convert"
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1", "v1beta1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{
				Service: &apiextensionsv1.ServiceReference{Namespace: "system", Name: "webhook-service", Path: &path},
			},
		},
	}
}

// redirect has the API server ask a server on this machine for what a Service is to be asked.
func (m *manifests) redirect(port int) {
	ca := config.CAData
	at := func(path string) *string {
		url := fmt.Sprintf("https://127.0.0.1:%d/%s", port, strings.TrimPrefix(path, "/"))
		return &url
	}
	for _, definition := range m.definitions {
		if webhook := definition.Spec.Conversion.Webhook; webhook != nil {
			webhook.ClientConfig.URL, webhook.ClientConfig.CABundle = at(*webhook.ClientConfig.Service.Path), ca
			webhook.ClientConfig.Service = nil
		}
	}
	redirect := func(asked *admissionregistrationv1.WebhookClientConfig) {
		asked.URL, asked.CABundle, asked.Service = at(*asked.Service.Path), ca, nil
	}
	for i := range m.mutating.Webhooks {
		redirect(&m.mutating.Webhooks[i].ClientConfig)
	}
	for i := range m.validating.Webhooks {
		redirect(&m.validating.Webhooks[i].ClientConfig)
	}
}

// labelsOfDefinitions are the labels that tell of which contract a definition is:
// they stand in the kustomization alone.
func labelsOfDefinitions(folder string) (map[string]string, error) {
	file := filepath.Join(folder, "crd", "kustomization.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the labels of definitions: %w", err)
	}
	var kustomization struct {
		Labels []struct{ Pairs map[string]string }
	}
	if err := yaml.Unmarshal(data, &kustomization); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	labels := map[string]string{}
	for _, entry := range kustomization.Labels {
		for key, value := range entry.Pairs {
			labels[key] = value
		}
	}
	return labels, nil
}

// documents are those of a YAML stream that are not empty.
func documents(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		// A reader of bytes in memory fails at their end alone.
		for all := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
			document, err := all.Read()
			if err != nil || !yield(document) {
				return
			}
		}
	}
}

// read takes the objects of a YAML file; their order does not matter.
func (m *manifests) read(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading manifests: %w", err)
	}
	if err := m.parse(data); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}

// parse takes the objects of a YAML stream; their order does not matter.
func (m *manifests) parse(data []byte) error {
	var problems []error
	for document := range documents(data) {
		var of struct{ Kind string }
		problems = append(problems, yaml.Unmarshal(document, &of))
		switch of.Kind {
		case "CustomResourceDefinition":
			definition, err := crds.Parse(document)
			m.definitions = append(m.definitions, definition)
			problems = append(problems, err)
		case "ClusterRole":
			problems = append(problems, yaml.UnmarshalStrict(document, &m.role))
		case "MutatingWebhookConfiguration":
			problems = append(problems, yaml.UnmarshalStrict(document, &m.mutating))
		case "ValidatingWebhookConfiguration":
			problems = append(problems, yaml.UnmarshalStrict(document, &m.validating))
		case "":
		default:
			problems = append(problems, fmt.Errorf("nothing is known of the kind %s", of.Kind))
		}
	}
	return errors.Join(problems...)
}
