package payload

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

const (
	// DirectoryAnnotation says of a manifest Secret which folder its files belong into: ManifestsFolder or OpenShiftFolder.
	DirectoryAnnotation = "manifests.capstan.openshift.io/directory"
	// ManifestsFolder is one of the two folders that a bootstrap machine reads manifests from.
	ManifestsFolder = "manifests"
	// OpenShiftFolder is the other one.
	OpenShiftFolder = "openshift"

	// manifestMost is how large a file of manifests may be, in bytes.
	manifestMost = 512 << 10
	// documentsMost is how many objects a file may have.
	documentsMost = 1000
)

// Placed is an object, the file that it is written to, and where it came from.
type Placed struct {
	// Path is folder and file, as manifests/a.yaml.
	Path string
	// From are the places that it came from, for messages.
	From   []string
	Object *unstructured.Unstructured
}

// readManifests returns the objects of all Secrets, merged.
func readManifests(secrets []ManifestSecret, problems *InputsError) []Placed {
	var all []Placed
	for _, secret := range secrets {
		if secret.Directory != ManifestsFolder && secret.Directory != OpenShiftFolder {
			problems.add("Secret "+secret.Name, "it is chosen by spec.manifestsSelector and its annotation %s is neither %s nor %s; "+
				"set it to one of them, or take the label off", DirectoryAnnotation, ManifestsFolder, OpenShiftFolder)
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			at := secretKey(secret.Name, key)
			if !isManifestName(key) {
				problems.add(at, "it is no name of a manifest; end it in .yaml, .yml or .json")
				continue
			}
			all = append(all, objects(at, path.Join(secret.Directory, key), secret.Data[key], problems)...)
		}
	}
	merged, err := Merge(all)
	if own, is := errors.AsType[InputsError](err); is {
		*problems = append(*problems, own...)
	}
	return merged
}

func isManifestName(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return path.Base(name) == name
	}
	return false
}

// objects reads the documents of a file.
func objects(at, file string, data []byte, problems *InputsError) []Placed {
	if len(data) > manifestMost {
		problems.add(at, "it has %d bytes, more than the %d allowed; split it", len(data), manifestMost)
		return nil
	}
	var found []Placed
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for number := 1; ; number++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || number > documentsMost {
			problems.add(at, "its documents cannot be told apart, or are more than %d; split it into files", documentsMost)
			return nil
		}
		where := at
		if number > 1 {
			where = fmt.Sprintf("%s, document %d", at, number)
		}
		if object := decoded(where, text, problems); object != nil {
			found = append(found, Placed{Path: file, From: []string{where}, Object: object})
		}
	}
	if len(found) == 0 && len(*problems) == 0 {
		problems.add(at, "it holds no object; remove the key, or write a manifest there")
	}
	return found
}

// decoded is nil for a document that is empty or refused.
func decoded(at string, text []byte, problems *InputsError) *unstructured.Unstructured {
	var nothing any
	if err := yaml.Unmarshal(text, &nothing); err == nil && nothing == nil {
		return nil
	}
	read := tree(at, text, problems)
	if read == nil {
		return nil
	}
	object := &unstructured.Unstructured{Object: read}
	kind, _ := read["kind"].(string)
	version, _ := read["apiVersion"].(string)
	name, _, _ := unstructured.NestedString(read, "metadata", "name")
	switch {
	case kind == "" || version == "":
		problems.add(at, "it has no kind or no apiVersion, so it is no object; write both")
		return nil
	case read["items"] != nil && strings.HasSuffix(kind, "List"):
		problems.add(at, "it is a list of objects; write each as a document of its own")
		return nil
	case name == "":
		problems.add(at, "it has no metadata.name; give it one, since it is applied more than once")
		return nil
	}
	checkMachineConfig(at, object, problems)
	return object
}

// checkMachineConfig refuses a MachineConfig whose Ignition a machine would refuse.
func checkMachineConfig(at string, object *unstructured.Unstructured, problems *InputsError) {
	gvk := object.GroupVersionKind()
	if gvk.Group != "machineconfiguration.openshift.io" || gvk.Kind != "MachineConfig" {
		return
	}
	config, has, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "config")
	if !has {
		return
	}
	text, err := json.Marshal(config)
	if err == nil {
		err = ignition.CheckOfMachineConfig(text)
	}
	if err != nil {
		problems.add(at+", field spec.config", "%v; mend it, or no machine starts with it", err)
	}
}

// Files writes objects to their files: by folder and file, with the objects of each sorted.
func Files(placed []Placed) (map[string][]byte, error) {
	sorted := slices.Clone(placed)
	slices.SortFunc(sorted, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(identity(a.Object), identity(b.Object)))
	})
	files := map[string][]byte{}
	for _, p := range sorted {
		text, err := yaml.Marshal(p.Object.Object)
		if err != nil {
			return nil, fmt.Errorf("writing %s of %s: it is no YAML", identity(p.Object), p.Path)
		}
		if file, has := files[p.Path]; has {
			text = slices.Concat(file, []byte("---\n"), text)
		}
		files[p.Path] = text
	}
	return files, nil
}
