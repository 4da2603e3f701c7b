package packaging

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The names of the ConfigMaps in a kustomization that are meant for this tool
// and are not packaged.
const (
	excludeSettings = "exclude-resources-config"
	renameSettings  = "rename-resources-config"
)

// settings are what a kustomization configures of this tool.
type settings struct {
	// exclude holds the CRDs, as plural and group, that must not be packaged.
	exclude []schema.GroupResource
	// rename holds the new names.
	rename map[identity]string
}

// identity is a group, kind and name: what distinguishes the objects of a
// profile, which all live in one namespace or in none.
type identity struct {
	group, kind, name string
}

func (i identity) String() string {
	return i.kind + " " + i.name
}

func identityOf(object *unstructured.Unstructured) identity {
	gvk := object.GroupVersionKind()
	return identity{group: gvk.Group, kind: gvk.Kind, name: object.GetName()}
}

func isSettings(object *unstructured.Unstructured) bool {
	return isKind(object, "", "ConfigMap") && (object.GetName() == excludeSettings || object.GetName() == renameSettings)
}

// takeSettings separates the settings from what is to be packaged.
func takeSettings(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, settings, error) {
	s := settings{rename: map[identity]string{}}
	readers := map[string]func(string) error{
		"excludeCRDs":        s.readExclusion,
		"renameResources":    s.readRename,
		"renameClusterRoles": s.readClusterRole,
	}
	var rest []*unstructured.Unstructured
	for _, object := range objects {
		if !isSettings(object) {
			rest = append(rest, object)
			continue
		}
		data, _, err := root(object).child("data")
		if err != nil {
			return nil, settings{}, err
		}
		for _, key := range slices.Sorted(maps.Keys(data.fields)) {
			read, known := readers[key]
			if !known {
				return nil, settings{}, data.errorf(key, "is not known: %s are", strings.Join(slices.Sorted(maps.Keys(readers)), ", "))
			}
			if err := readLines(data, key, read); err != nil {
				return nil, settings{}, err
			}
		}
	}
	return rest, s, nil
}

// readLines reads one setting per line; empty lines and those that begin with # are skipped.
func readLines(data node, key string, read func(string) error) error {
	text, err := data.text(key)
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := read(line); err != nil {
			return data.errorf(key, "line %d: %v", number, err)
		}
	}
	return nil
}

func (s *settings) readExclusion(line string) error {
	plural, group, found := strings.Cut(line, ".")
	if !found || plural == "" || group == "" || strings.ContainsAny(line, " \t/") {
		return fmt.Errorf("%q is not the name of a CustomResourceDefinition, which is <plural>.<group>", line)
	}
	s.exclude = append(s.exclude, schema.GroupResource{Group: group, Resource: plural})
	return nil
}

func (s *settings) readRename(line string) error {
	from, name, found := strings.Cut(line, "=")
	parts := strings.Split(strings.TrimSpace(from), "/")
	if !found || len(parts) != 3 || parts[1] == "" {
		return fmt.Errorf("%q is not of the form <group>/<Kind>/<old name>=<new name>, with nothing before the first / for the core group", line)
	}
	return s.addRename(identity{group: parts[0], kind: parts[1], name: parts[2]}, name)
}

// readClusterRole reads the form of settings that rename nothing but ClusterRoles.
func (s *settings) readClusterRole(line string) error {
	from, name, found := strings.Cut(line, "=")
	if !found {
		return fmt.Errorf("%q is not of the form <old name>=<new name>", line)
	}
	return s.addRename(identity{group: rbac, kind: "ClusterRole", name: strings.TrimSpace(from)}, name)
}

func (s *settings) addRename(from identity, name string) error {
	name = strings.TrimSpace(name)
	if from.name == "" || name == "" || strings.ContainsAny(name, " \t/%") {
		return fmt.Errorf("%q cannot be renamed to %q: both must be names", from.name, name)
	}
	if from.group == apiextensions {
		return fmt.Errorf("%s cannot be renamed: its name is made of its plural and group", from)
	}
	if earlier, twice := s.rename[from]; twice && earlier != name {
		return fmt.Errorf("%s is renamed twice, to %s and to %s", from, earlier, name)
	}
	s.rename[from] = name
	return nil
}
