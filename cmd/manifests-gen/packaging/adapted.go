package packaging

import (
	"bytes"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// localConfig keeps an object out of what kustomize builds.
const localConfig = "config.kubernetes.io/local-config"

// functions are the transformers of OpenShift's own packaging tool, which need a
// container engine. This package does what they do without one.
var functions = []string{"exclude-resources", "rename-resources"}

// adaptedDisk is the disk as kustomize sees it, on which kustomizations for
// OpenShift's tool work: its two transformers do nothing, and kustomize builds
// their settings like other objects.
type adaptedDisk struct {
	filesys.FileSystem
}

// separator begins the line between two YAML documents.
var separator = regexp.MustCompile(`(?m)^---(?:[ \t\r]|$)`)

func (d adaptedDisk) ReadFile(path string) ([]byte, error) {
	content, err := d.FileSystem.ReadFile(path)
	if err != nil || !bytes.Contains(content, []byte("-resources")) {
		return content, err
	}
	var out []byte
	start := 0
	for _, found := range separator.FindAllIndex(content, -1) {
		out = append(out, adapt(content[start:found[0]])...)
		start = found[0]
	}
	return append(out, adapt(content[start:])...), nil
}

// adapt returns what it does not know unchanged, errors included: kustomize reports those.
func adapt(document []byte) []byte {
	object := &unstructured.Unstructured{}
	if !bytes.Contains(document, []byte("-resources")) {
		return document
	}
	if err := yaml.Unmarshal(document, &object.Object); err != nil || !isKind(object, "", "ConfigMap") {
		return document
	}
	annotations := object.GetAnnotations()
	switch {
	case isSettings(object) && annotations[localConfig] != "":
		delete(annotations, localConfig)
		object.SetAnnotations(annotations)
	case slices.Contains(functions, object.GetName()) && annotations["config.kubernetes.io/function"] != "":
		object.Object = map[string]any{
			"apiVersion": "builtin", "kind": "LabelTransformer", "metadata": map[string]any{"name": object.GetName()},
		}
	default:
		return document
	}
	adapted, err := yaml.Marshal(object.Object)
	if err != nil {
		return document
	}
	return append([]byte("---\n"), adapted...)
}
