package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/cmd/capstan/payload"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// releaseFolder is where a release image has its manifests, as oc adm release new makes it.
const releaseFolder = "/release-manifests"

// payloadImage is a release image that takes the place of a list of images.
func (f *planFlags) payloadImage(ref images.Ref) *phases.Payload {
	if f.progress != nil && f.output == "text" {
		fmt.Fprintf(f.progress, "Reading the manifests in release image %s, for which all its layers are pulled.\n", ref.Short())
	}
	return &phases.Payload{Ref: ref, Folder: releaseFolder, List: func(files map[string][]byte) (*corev1.ConfigMap, error) {
		return payload.ConfigMapOf(files, phases.ImagesConfigMap)
	}}
}

// unfold puts what release images list in the place of these. Of the sets that were fetched, an image without manifests of a provider
// is taken for one. It returns nothing if there is none.
func (s *sources) unfold(ctx context.Context, puller *images.Puller, fetched []images.Ref) (refs []images.Ref, problems []render.Problem) {
	releases := slices.DeleteFunc(slices.Clone(s.sets), func(ref images.Ref) bool {
		state := puller.State(ref)
		return state.Phase != images.Ready || len(state.Image.Profiles) > 0
	})
	if len(releases) == 0 {
		return nil, nil
	}
	for _, ref := range fetched {
		if !slices.Contains(releases, ref) {
			refs = append(refs, ref)
		}
	}
	for _, ref := range releases {
		listed, err := s.listedBy(ctx, puller, ref)
		if err != nil {
			problems = append(problems, render.Problem{Image: string(ref), Cause: fmt.Sprintf(
				"it has no folder %s of a provider, and is no image of a release: %v", images.ManifestsFolder, err)})
		}
		for _, one := range listed {
			if !slices.Contains(refs, one) {
				refs = append(refs, one)
			}
		}
	}
	return refs, problems
}

// listedBy are the images that a release image lists.
func (s *sources) listedBy(ctx context.Context, puller *images.Puller, ref images.Ref) ([]images.Ref, error) {
	release := s.asRelease(ref)
	files, err := puller.Files(ctx, release.Ref, release.Folder)
	if own, is := errors.AsType[*images.Error](err); is {
		err = own.Err // the problem names the image
	}
	if err != nil {
		return nil, err
	}
	list, err := release.List(files)
	if err != nil {
		return nil, err
	}
	in, err := phases.Instead{}.WithList(list)
	return in.Images, err
}
