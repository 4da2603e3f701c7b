package images

import (
	"context"
	"io"

	"github.com/google/go-containerregistry/pkg/v1"
)

const (
	manifestKind = "manifest"
	blobKind     = "blob"

	// layerBytes is how large a layer may be as it is served, and so on disk.
	layerBytes = 1 << 30
	// layersMost is how many layers an image may have: as many as container runtimes take.
	layersMost = 128
)

// platform returns the manifest of an image, or of an index's image for linux/arch.
func (r *repository) platform(ctx context.Context, digest, arch string) (*manifest, error) {
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
	if len(m.Layers) > layersMost {
		return nil, fail(KindLimit, "it has %d layers, more than the %d allowed; merge some of them", len(m.Layers), layersMost)
	}
	return m, nil
}

// unpack reads all layers of an image into a tree.
func (r *repository) unpack(ctx context.Context, m *manifest, t *tree) error {
	left := t.limits.unpacked
	for i, descriptor := range m.Layers {
		if err := r.layer(ctx, descriptor, i+1, t, &left); err != nil {
			return err
		}
	}
	return nil
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
	data, err := io.ReadAll(r.verified(ctx, answer, manifestKind, want, sizeUnknown))
	if err != nil {
		return nil, err
	}
	return parseManifest(digest, data)
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

// layer unpacks a layer once all of it has arrived and matched its digest: an error in its content is the image's then,
// and bytes of a registry that nobody has vouched for are not interpreted.
func (r *repository) layer(ctx context.Context, d v1.Descriptor, number int, t *tree, left *int64) error {
	if d.Size < 0 {
		return fail(KindContent, "layer %d has the size %d in the manifest; check what was pushed", number, d.Size)
	}
	if d.Size > layerBytes {
		return fail(KindLimit, "layer %d has %d bytes, more than the %d allowed; make the image smaller", number, d.Size, layerBytes)
	}
	kept, err := newSpool(r.folders...)
	if err != nil {
		return err
	}
	defer kept.close()
	answer, err := r.get(ctx, blobKind, d.Digest.String())
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(kept, r.verified(ctx, answer, blobKind, d.Digest, d.Size)); err != nil {
		return err
	}
	defer r.activity.pause()()
	return unpack(&attempt{ctx: ctx, r: kept.content()}, number, t, left)
}

// attempt ends a reading with its context.
type attempt struct {
	ctx context.Context
	r   io.Reader
}

func (a *attempt) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	return a.r.Read(p)
}
