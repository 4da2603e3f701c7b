package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nothing is the config of a manifest that is no image; its media type makes artifactType count.
const (
	nothing     = "{}"
	nothingType = types.MediaType("application/vnd.oci.empty.v1+json")
)

// writer is an OCI layout while it is written, beside the folder that it will be.
type writer struct {
	path    layout.Path
	created string
	subject v1.Descriptor
}

func (w *writer) begin(folder string, img v1.Image) (err error) {
	if err := replaceable(folder); err != nil {
		return err
	}
	fresh := folder + ".new"
	if err := replaceable(fresh); err != nil {
		return fmt.Errorf("%s: %w", fresh, err)
	}
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if w.path, err = layout.Write(fresh, empty.Index); err != nil {
		return err
	}
	return w.path.AppendImage(img, layout.WithPlatform(*w.subject.Platform))
}

// replaceable is a folder that may be removed: a layout that an earlier run has written.
func replaceable(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, "oci-layout")); err != nil {
		return errors.New("it has files, and is no OCI layout: name another folder")
	}
	return nil
}

func (w *writer) end(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("replacing %s: %w", folder, err)
	}
	return os.Rename(folder+".new", folder)
}

// refer adds a document about the image: a manifest whose subject the image is.
func (w *writer) refer(kind string, content []byte) (v1.Hash, error) {
	config, err := w.blob(nothingType, []byte(nothing))
	if err != nil {
		return v1.Hash{}, err
	}
	document, err := w.blob(types.MediaType(kind), content)
	if err != nil {
		return v1.Hash{}, err
	}
	subject := w.subject
	subject.Platform = nil
	text, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: kind,
		Config: config, Layers: []v1.Descriptor{document}, Subject: &subject,
		Annotations: map[string]string{"org.opencontainers.image.created": w.created},
	})
	if err != nil {
		return v1.Hash{}, err
	}
	manifest, err := w.blob(types.OCIManifestSchema1, text)
	if err != nil {
		return v1.Hash{}, err
	}
	manifest.ArtifactType = kind
	return manifest.Digest, w.path.AppendDescriptor(manifest)
}

// blob stores content, once, and describes it.
func (w *writer) blob(kind types.MediaType, content []byte) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: kind, Digest: digest, Size: size}, w.path.WriteBlob(digest, io.NopCloser(bytes.NewReader(content)))
}
