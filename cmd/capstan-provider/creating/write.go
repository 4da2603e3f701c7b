package creating

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/payload"
)

// Write prints objects as documents of YAML.
func Write(out io.Writer, objects []*unstructured.Unstructured) error {
	var all bytes.Buffer
	for i, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("writing %s %s as YAML: %w", object.GetKind(), object.GetName(), err)
		}
		if i > 0 {
			all.WriteString("---\n")
		}
		all.Write(text)
	}
	_, err := out.Write(all.Bytes())
	return err
}

// WriteFolder writes a file for each object into a folder, which is made; it refuses one that holds anything. Names are in the order
// of the objects. Only the owner can read them, since some are Secrets.
func WriteFolder(folder string, objects []*unstructured.Unstructured) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of the objects: %w", err)
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("looking into the folder of the objects: %w", err)
	}
	if len(there) > 0 {
		return fmt.Errorf("the folder %s is not empty: name another one, or empty it", folder)
	}
	for i, object := range objects {
		var text bytes.Buffer
		if err := Write(&text, objects[i:i+1]); err != nil {
			return err
		}
		file := fmt.Sprintf("%02d-%s-%s.yaml", i, strings.ToLower(object.GetKind()), object.GetName())
		if err := os.WriteFile(filepath.Join(folder, file), text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("writing %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// filesMost bounds a folder of manifests: how many files, and how many bytes each.
const (
	filesMost = 1000
	fileMost  = 4 << 20
)

// ReadManifests reads the files of the folders manifests and openshift in a folder; one of the two suffices. Anything else in it is
// refused: it would be left out.
func ReadManifests(folder string) (files []File, err error) {
	there, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("looking into the folder of manifests: %w", err)
	}
	for _, within := range there {
		if name := within.Name(); !within.IsDir() || name != payload.ManifestsFolder && name != payload.OpenShiftFolder {
			return nil, fmt.Errorf("the folder %s has %s, and is to have the folders %s and %s only", folder, name, payload.ManifestsFolder, payload.OpenShiftFolder)
		}
		listed, err := os.ReadDir(filepath.Join(folder, within.Name()))
		if err != nil {
			return nil, fmt.Errorf("looking into the folder of manifests: %w", err)
		}
		for _, one := range listed {
			path := within.Name() + "/" + one.Name()
			data, err := ReadFile(filepath.Join(folder, path))
			if err != nil {
				return nil, err
			}
			if files = append(files, File{path, data}); len(files) > filesMost {
				return nil, fmt.Errorf("the folder %s has more than %d files", folder, filesMost)
			}
		}
	}
	return files, nil
}

// ReadFile reads a file that is not larger than what could be of use.
func ReadFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading what is given: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, fileMost+1))
	if err != nil {
		return nil, fmt.Errorf("reading what is given: %w", err)
	}
	if len(data) > fileMost {
		return nil, fmt.Errorf("the file %s has more than %d bytes", name, fileMost)
	}
	return data, nil
}
