package packaging

import (
	"bytes"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// localConfig keeps kustomize from giving an object out.
const localConfig = "config.kubernetes.io/local-config"

// functions are the transformers of OpenShift's own packaging tool, which want a
// container engine. What they do is done here without one.
var functions = []string{"exclude-resources", "rename-resources"}

// adaptedDisk is the disk with kustomizations that were written for OpenShift's
// tool made to work: its two transformers do nothing, and the settings for them
// come out of kustomize like other objects.
type adaptedDisk struct {
	filesys.FileSystem
}

func (d adaptedDisk) ReadFile(path string) ([]byte, error) {
	content, err := d.FileSystem.ReadFile(path)
	if err != nil || !bytes.Contains(content, []byte("-resources")) {
		return content, err
	}
	separator := []byte("\n---\n")
	documents := bytes.Split(content, separator)
	for i, document := range documents {
		documents[i] = adapt(document)
	}
	return bytes.Join(documents, separator), nil
}

// adapt leaves alone what it does not know, errors included: kustomize reports those.
func adapt(document []byte) []byte {
	object := &unstructured.Unstructured{}
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
	return adapted
}
