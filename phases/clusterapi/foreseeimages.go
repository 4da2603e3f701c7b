package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/capstan-capi/capstan/phases/images"
)

// reach finds out how the cluster reaches registries and whose images it lets in, as far as that may be read.
func (f *Foreseer) reach(ctx context.Context, w world, in Instead, told *Foresight) (err error) {
	p := f.phases
	p.credentials = in.Credentials
	if p.Images, err = withFolders(p.Images, in.Folders); err != nil {
		return err
	}
	err = p.reachRegistries(ctx, w)
	if apierrors.IsForbidden(err) && len(p.PullSecrets) > 0 {
		told.limit("the cluster's pull secret may not be read: images are pulled with your own credentials")
		p.PullSecrets = nil
		err = p.reachRegistries(ctx, w)
	}
	if apierrors.IsForbidden(err) {
		told.limit(fmt.Sprintf("what the cluster says of registries may not be read, so that images are pulled without its mirrors and are let in by no policy: %v", err))
		err = nil
		if puller, pulls := p.Images.(puller); pulls {
			puller.Use(images.Access{Credentials: in.Credentials})
		}
	}
	return err
}

// limit tells once of something that is not told, and why.
func (t *Foresight) limit(text string) {
	if !slices.Contains(t.Limits, text) {
		t.Limits = append(t.Limits, text)
	}
}

// listed is what takes the place of the inputs when the images are those that a release image lists.
func (f *Foreseer) listed(ctx context.Context, in Instead, told *Foresight) (Instead, error) {
	pulls, is := f.phases.Images.(*images.Puller)
	if !is {
		return in, fmt.Errorf("a %T reads no image of a release", f.phases.Images)
	}
	w, err := f.inputs(ctx, in)
	if err == nil {
		err = f.reach(ctx, w, in, told)
	}
	if err != nil {
		return in, err
	}
	files, err := pulls.Files(ctx, in.Payload.Ref, in.Payload.Folder)
	if own, is := errors.AsType[*images.Error](err); is {
		err = own.Err // whoever asked names the image
	}
	if err != nil {
		return in, err
	}
	list, err := in.Payload.List(files)
	if err != nil {
		return in, err
	}
	return in.WithList(list)
}

// WithList is one in which the images are those of a list, and the release is its own unless another one is named.
func (i Instead) WithList(list *corev1.ConfigMap) (Instead, error) {
	refs, err := ListedImages(list)
	if err == nil && len(refs) == 0 {
		err = fmt.Errorf("ConfigMap %s lists no image", list.Name)
	}
	i.Images, i.Payload = refs, nil
	if i.Release == "" {
		i.Release = list.Annotations[ReleaseAnnotation]
	}
	return i, err
}

// fetch has the images fetched, each tried once. The caller stops what it has started.
func (f *Foreseer) fetch(ctx context.Context, w world) (stop func(), err error) {
	refs, p := f.phases.neededOf(w, nil), f.phases
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
