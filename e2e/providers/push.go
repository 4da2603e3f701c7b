package providers

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Push packs each profile as an image of its own, pushes it to host (host:port
// of a loopback registry) and returns the references by component, all by digest.
func Push(ctx context.Context, host string, profiles []Profile) (map[string]string, error) {
	references := map[string]string{}
	for _, profile := range profiles {
		image, err := profile.Image()
		if err != nil {
			return nil, err
		}
		reference, err := PushImage(ctx, host, "providers/"+profile.Component, image)
		if err != nil {
			return nil, err
		}
		references[profile.Component] = reference
	}
	return references, nil
}

// PushImage pushes an image without a tag and returns host/repository@sha256:<hex>.
func PushImage(ctx context.Context, host, repository string, image v1.Image) (string, error) {
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("computing the digest of an image for %s: %w", repository, err)
	}
	reference, err := name.NewDigest(host + "/" + repository + "@" + digest.String())
	if err != nil {
		return "", fmt.Errorf("naming an image: %w", err)
	}
	if err := remote.Write(reference, image, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("pushing %s: %w", reference, err)
	}
	return reference.String(), nil
}
