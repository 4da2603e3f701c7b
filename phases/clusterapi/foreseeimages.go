package clusterapi

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/capstan-capi/capstan/phases/images"
)

// fetch has the images fetched, each tried once, as the cluster reaches registries and by whose images it lets in, as far as that
// may be read. The caller stops what it has started.
func (f *Foreseer) fetch(ctx context.Context, w world, in Instead, told *Foresight) (stop func(), err error) {
	p := f.phases
	p.credentials = in.Credentials
	if p.Images, err = withFolders(p.Images, in.Folders); err != nil {
		return func() {}, err
	}
	err = p.reachRegistries(ctx, w)
	if apierrors.IsForbidden(err) && len(p.PullSecrets) > 0 {
		told.Limits = append(told.Limits, "the cluster's pull secret may not be read: images are pulled with your own credentials")
		p.PullSecrets = nil
		err = p.reachRegistries(ctx, w)
	}
	if apierrors.IsForbidden(err) {
		told.Limits = append(told.Limits, fmt.Sprintf("what the cluster says of registries may not be read, so that images are pulled without its mirrors and are let in by no policy: %v", err))
		err = nil
		if puller, pulls := p.Images.(puller); pulls {
			puller.Use(images.Access{Credentials: in.Credentials})
		}
	}
	if err != nil {
		return func() {}, err
	}
	refs := p.neededOf(w, nil)
	within, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	p.Images.Want(refs)
	go func() {
		defer close(ended)
		_ = p.Images.Start(within) // it returns an error only for the end of the context
	}()
	for !f.settled(refs) && ctx.Err() == nil {
		select {
		case <-f.changed:
		case <-ctx.Done():
		}
	}
	return func() { cancel(); <-ended }, ctx.Err()
}

func (f *Foreseer) settled(refs []images.Ref) bool {
	return !slices.ContainsFunc(refs, func(ref images.Ref) bool {
		state := f.phases.Images.State(ref)
		return state.Phase != images.Ready && state.Err == nil
	})
}

// puller is what is told how registries are reached.
type puller interface {
	Use(access images.Access)
	Spare(refs []images.Ref)
}

// beside is a source of images of which some were read from folders.
type beside struct {
	*images.Puller
	folders map[images.Ref]*images.Image
}

func withFolders(source images.Source, folders []images.Image) (images.Source, error) {
	if len(folders) == 0 {
		return source, nil
	}
	pulls, is := source.(*images.Puller)
	if !is {
		return nil, fmt.Errorf("a %T has no folders beside it", source)
	}
	b := &beside{Puller: pulls, folders: map[images.Ref]*images.Image{}}
	for i := range folders {
		b.folders[folders[i].Ref] = &folders[i]
	}
	return b, nil
}

// Want asks for what is in no folder.
func (b *beside) Want(refs []images.Ref) {
	b.Puller.Want(slices.DeleteFunc(slices.Clone(refs), func(ref images.Ref) bool { return b.folders[ref] != nil }))
}

// Recall recalls nothing of folders.
func (b *beside) Recall(refs []images.Ref) {
	b.Puller.Recall(slices.DeleteFunc(slices.Clone(refs), func(ref images.Ref) bool { return b.folders[ref] != nil }))
}

// State is what is known of an image; one of a folder is ready.
func (b *beside) State(ref images.Ref) images.State {
	if folder := b.folders[ref]; folder != nil {
		return images.State{Phase: images.Ready, Image: folder}
	}
	return b.Puller.State(ref)
}
