package providers

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// PushLayout pushes an OCI layout as it is, with what refers to its image, and returns that image and host/repository@sha256:<hex> of
// it. It is an error unless the layout has one image: that is what names a platform.
func PushLayout(ctx context.Context, host, repository, folder string) (v1.Image, string, error) {
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, "", fmt.Errorf("reading the layout %s, which `make provider-image` writes: %w", folder, err)
	}
	image, digest, err := only(index)
	if err != nil {
		return nil, "", fmt.Errorf("reading the layout %s: %w", folder, err)
	}
	at, err := name.NewTag(host + "/" + repository + ":layout")
	if err != nil {
		return nil, "", fmt.Errorf("naming the layout %s: %w", folder, err)
	}
	if err := remote.WriteIndex(at, index, remote.WithContext(ctx)); err != nil {
		return nil, "", fmt.Errorf("pushing the layout %s: %w", folder, err)
	}
	return image, at.Context().Digest(digest.String()).String(), nil
}

// only is the one image of an index.
func only(index v1.ImageIndex) (v1.Image, v1.Hash, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, v1.Hash{}, err
	}
	var digests []v1.Hash
	for i := range manifest.Manifests {
		if manifest.Manifests[i].Platform != nil {
			digests = append(digests, manifest.Manifests[i].Digest)
		}
	}
	if len(digests) != 1 {
		return nil, v1.Hash{}, fmt.Errorf("it has %d images, and not one", len(digests))
	}
	image, err := index.Image(digests[0])
	return image, digests[0], err
}
