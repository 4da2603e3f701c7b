package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// file is one of a layer; name has no slash before it.
type file struct {
	name    string
	mode    int64
	content []byte
}

// payloadFiles are those of a folder. CVO reads no folder within it.
func payloadFiles(folder, at string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s is not a file: a release reads nothing else", filepath.Join(folder, e.Name()))
		}
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: at + "/" + e.Name(), mode: 0o644, content: content})
	}
	if files == nil {
		return nil, fmt.Errorf("%s: %w", folder, errors.Join(errEmpty, fs.ErrNotExist))
	}
	return files, nil
}

// profileFiles are those of the folders in a folder, each a profile.
func profileFiles(folder, at string) ([]file, error) {
	profiles, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []file
	for _, profile := range profiles {
		if !profile.IsDir() {
			return nil, fmt.Errorf("%s is not a folder: Capstan reads profiles only", filepath.Join(folder, profile.Name()))
		}
		files, err := payloadFiles(filepath.Join(folder, profile.Name()), at+"/"+profile.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	if all == nil {
		return nil, fmt.Errorf("%s: %w", folder, errors.Join(errEmpty, fs.ErrNotExist))
	}
	return all, nil
}

var errEmpty = errors.New("it has no files")

// layer packs files and the folders that they are in. All belong to root, and are of one time.
func layer(at time.Time, files []file) (v1.Layer, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	var folders []string
	for _, f := range files {
		for _, folder := range above(f.name) {
			if slices.Contains(folders, folder) {
				continue
			}
			folders = append(folders, folder)
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: at, Format: tar.FormatUSTAR}); err != nil {
				return nil, err
			}
		}
		if err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR,
		}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}

// above are the folders that a file is in, the outermost first.
func above(name string) []string {
	var folders []string
	for folder := path.Dir(name); folder != "." && !strings.HasSuffix(folder, "/"); folder = path.Dir(folder) {
		folders = append(folders, folder)
	}
	slices.Reverse(folders)
	return folders
}
