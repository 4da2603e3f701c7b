package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/capstan-capi/capstan/phases/images"
)

// Label is the label of a release image that has its version.
const Label = "io.openshift.release"

// Registry is what is asked for images.
type Registry interface {
	Labels(ctx context.Context, ref images.Ref) (map[string]string, error)
	Tagged(ctx context.Context, tagged string) (images.Ref, error)
}

// Release is an image, by digest, and the version that it calls itself by.
type Release struct {
	Image   images.Ref
	Version string
}

// Policy says by what release images may be named.
type Policy string

const (
	// Digest refuses references by tag.
	Digest Policy = "Digest"
	// Tag takes them, and stands for what the tag means at the time it is looked up.
	Tag Policy = "Tag"
)

// NoReleaseError is an image that is no release.
type NoReleaseError struct {
	Image images.Ref
	Why   string
}

func (e NoReleaseError) Error() string {
	return fmt.Sprintf("image %s is no release: %s", e.Image, e.Why)
}

// Terminal is true: the same digest has the same labels.
func (NoReleaseError) Terminal() bool { return true }

// Resolve asks a registry what release a reference names. Its errors are an [images.Error], or a NoReleaseError.
func Resolve(ctx context.Context, registry Registry, reference string, policy Policy) (Release, error) {
	ref, err := images.ParseRef(reference)
	if err != nil && policy == Tag {
		ref, err = registry.Tagged(ctx, reference)
	}
	if err != nil {
		return Release{}, fmt.Errorf("finding the release image: %w", err)
	}
	labels, err := registry.Labels(ctx, ref)
	if err != nil {
		// Those errors are said of provider images.
		if own, is := errors.AsType[*images.Error](err); is {
			err = &images.Error{Kind: own.Kind, Err: own.Err}
		}
		return Release{}, fmt.Errorf("reading the version of release image %s: %w", ref, err)
	}
	version, has := labels[Label]
	if !has {
		return Release{}, NoReleaseError{Image: ref, Why: "it has no label " + Label + "; name the image of a release, not one of its parts"}
	}
	if _, err := semver.Parse(version); err != nil {
		return Release{}, NoReleaseError{Image: ref, Why: "its label " + Label + " is no version; name the image of a release"}
	}
	return Release{Image: ref, Version: version}, nil
}
