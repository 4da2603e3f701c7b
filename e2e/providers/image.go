package providers

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// ManifestsDir is the folder of a provider image that holds its profiles.
const ManifestsDir = "capi-operator-manifests"

// Image packs the profile as a provider image.
func (p Profile) Image() (v1.Image, error) {
	files, err := p.Files()
	if err != nil {
		return nil, err
	}
	return Image(files)
}

// Files are those of the profile's image, by their path below its root.
func (p Profile) Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(p.Folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path.Join(p.Folder, name))
		files[path.Join(ManifestsDir, name)] = content
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the profile of %s: %w", p.Component, err)
	}
	return files, nil
}

// Image makes an OCI image with one layer of the given files, by their path
// below the image's root. The same files give the same digest. It checks
// nothing, so that tests can make images that an installer must refuse.
func Image(files map[string][]byte) (v1.Image, error) {
	archive, err := archive(files)
	if err != nil {
		return nil, fmt.Errorf("packing an image layer: %w", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("packing an image layer: %w", err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, fmt.Errorf("adding the layer to an image: %w", err)
	}
	return image, nil
}

// archive is a tar of the files and of the folders above them, sorted, with no
// owner and no time.
func archive(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	folders := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		clean := strings.TrimPrefix(path.Clean("/"+name), "/")
		for _, folder := range parents(clean) {
			if folders[folder] {
				continue
			}
			folders[folder] = true
			if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: clean, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			return nil, err
		}
		if _, err := writer.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// parents are the folders above a relative path, outermost first.
func parents(name string) []string {
	var folders []string
	for i, c := range name {
		if c == '/' {
			folders = append(folders, name[:i])
		}
	}
	return folders
}
