package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/phases/payload"
)

// secretMost is how many bytes of files go into one Secret.
const secretMost = 900 << 10

// LargeFileError is a file that no Secret can hold.
type LargeFileError struct {
	Path  string
	Bytes int
}

func (e LargeFileError) Error() string {
	return fmt.Sprintf("file %s of the installer's folder has %d bytes, more than the %d that go into a Secret; split the manifests in it", e.Path, e.Bytes, secretMost)
}

// Terminal is true: the same inputs make the same file.
func (LargeFileError) Terminal() bool { return true }

// Folder returns the files that the installer starts from, by their paths: its state if there is one, the install-config
// otherwise, and the manifests that people give.
func Folder(in *payload.Inputs) (map[string][]byte, error) {
	files, err := payload.Files(in.Manifests)
	if err != nil {
		return nil, err
	}
	if in.State != nil {
		files[payload.StateKey] = in.State
		return files, nil
	}
	// JSON is YAML, and keeps whole numbers.
	text, err := json.Marshal(in.Raw)
	if err != nil {
		return nil, fmt.Errorf("writing the install-config for the installer: it is no JSON")
	}
	files[payload.ConfigKey] = text
	return files, nil
}

// packed is one Secret's part of a folder: keys, since those have no slashes, and the paths that they are mounted at.
type packed struct {
	data  map[string][]byte
	items []corev1.KeyToPath
	bytes int
}

// packs divides files among Secrets.
func packs(files map[string][]byte) ([]packed, error) {
	var all []packed
	for number, name := range slices.Sorted(maps.Keys(files)) {
		size := len(files[name])
		if size > secretMost {
			return nil, LargeFileError{Path: name, Bytes: size}
		}
		if len(all) == 0 || all[len(all)-1].bytes+size > secretMost {
			all = append(all, packed{data: map[string][]byte{}})
		}
		last := &all[len(all)-1]
		key := fmt.Sprintf("file-%04d", number)
		last.data[key] = files[name]
		last.items = append(last.items, corev1.KeyToPath{Key: key, Path: path.Clean(name)})
		last.bytes += size
	}
	return all, nil
}
