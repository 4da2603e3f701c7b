package applying

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/deploy"
)

// most is how many bytes are read of one file, or of standard input.
const most = 64 << 20

// Read reads the objects of files, of the files of folders that end in .yaml, .yml or .json, and, by the name -, of in.
func Read(in io.Reader, names []string) (objects []*unstructured.Unstructured, err error) {
	for _, name := range names {
		read, err := readOne(in, name)
		if err != nil {
			return nil, err
		}
		objects = append(objects, read...)
	}
	if len(objects) == 0 {
		return nil, errors.New("there is no object in what is given")
	}
	for _, object := range objects {
		if object.GetKind() == "" || object.GetAPIVersion() == "" || object.GetName() == "" {
			return nil, errors.New("what is given has an object without a kind, an apiVersion or a name")
		}
	}
	return objects, nil
}

func readOne(in io.Reader, name string) ([]*unstructured.Unstructured, error) {
	if name == "-" {
		return parse(in, "standard input")
	}
	about, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading objects: %w", err)
	}
	if !about.IsDir() {
		return readFile(name)
	}
	files, err := os.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("reading objects: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		if file.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file.Name())) {
			continue
		}
		read, err := readFile(filepath.Join(name, file.Name()))
		if err != nil {
			return nil, err
		}
		objects = append(objects, read...)
	}
	return objects, nil
}

func readFile(name string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading objects: %w", err)
	}
	defer file.Close()
	return parse(file, name)
}

func parse(from io.Reader, name string) ([]*unstructured.Unstructured, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading objects of %s: %w", name, err)
	}
	if len(text) > most {
		return nil, fmt.Errorf("reading objects of %s: it has more than %d bytes", name, most)
	}
	objects, err := deploy.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading objects of %s: %w", name, err)
	}
	return slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return len(o.Object) == 0 }), nil
}
