package images

import (
	"context"
	"encoding/json"
	"io"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	manifestKind = "manifest"
	blobKind     = "blob"
)

// manifest is the part of an image manifest or of an index that matters here.
type manifest struct {
	SchemaVersion int             `json:"schemaVersion"`
	MediaType     types.MediaType `json:"mediaType"`
	Manifests     []v1.Descriptor `json:"manifests"`
	Layers        []v1.Descriptor `json:"layers"`
}

// pull reads all layers of an image, or of an index's image for linux/arch, and returns its profiles.
func (r *repository) pull(ctx context.Context, digest, arch string, l limits) ([]Profile, error) {
	m, err := r.manifest(ctx, digest)
	if err == nil && m.Manifests != nil {
		if digest, err = forPlatform(m.Manifests, arch); err == nil {
			m, err = r.manifest(ctx, digest)
		}
	}
	if err != nil {
		return nil, err
	}
	if m.Manifests != nil {
		return nil, fail(KindContent, "the manifest %s for linux/%s is a list of manifests again; publish a flat list", digest, arch)
	}
	t, left := newTree(l), l.unpacked
	for i, descriptor := range m.Layers {
		if err := r.layer(ctx, descriptor, i+1, t, &left); err != nil {
			return nil, err
		}
	}
	return t.profiles()
}

func (r *repository) manifest(ctx context.Context, digest string) (*manifest, error) {
	answer, err := r.get(ctx, manifestKind, digest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	want, err := v1.NewHash(digest)
	if err != nil {
		return nil, fail(KindContent, "a manifest list names the manifest %q: %w; publish it by sha256", digest, err)
	}
	data, err := io.ReadAll(r.verified(ctx, answer.Body, manifestKind, want, sizeUnknown))
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fail(KindContent, "manifest %s cannot be read: %w; check what was pushed", digest, err)
	}
	// One meaning per manifest: a body that could be read as both would be two images with one digest.
	if (m.Manifests != nil) == (m.Layers != nil) {
		return nil, fail(KindContent, "manifest %s (mediaType %q, schemaVersion %d) is neither an image of layers nor a list of manifests; "+
			"check what was pushed", digest, m.MediaType, m.SchemaVersion)
	}
	return &m, nil
}

func forPlatform(manifests []v1.Descriptor, arch string) (string, error) {
	var offered []string
	for _, d := range manifests {
		if d.Platform == nil {
			if len(manifests) == 1 {
				return d.Digest.String(), nil
			}
			continue
		}
		if d.Platform.OS == "linux" && d.Platform.Architecture == arch {
			return d.Digest.String(), nil
		}
		offered = append(offered, d.Platform.String())
	}
	return "", fail(KindContent, "its manifest list has no image for linux/%s, only for %v; build it for this architecture too", arch, offered)
}

// layer unpacks a layer as it arrives. An error in its content counts only once all of it has arrived and matched its
// digest: otherwise the registry is at fault, not the image.
func (r *repository) layer(ctx context.Context, d v1.Descriptor, number int, t *tree, left *int64) error {
	if d.Size < 0 {
		return fail(KindContent, "layer %d has the size %d in the manifest; check what was pushed", number, d.Size)
	}
	if d.Size > t.limits.unpacked {
		return fail(KindLimit, "layer %d has %d bytes, more than the %d allowed; make the image smaller", number, d.Size, t.limits.unpacked)
	}
	answer, err := r.get(ctx, blobKind, d.Digest.String())
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body := r.verified(ctx, answer.Body, blobKind, d.Digest, d.Size)
	unpackErr := unpack(body, number, t, left)
	if _, err := io.Copy(io.Discard, body); err != nil {
		return err
	}
	return unpackErr
}
