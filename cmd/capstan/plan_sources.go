package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/cmd/capstan/payload"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// instead is what takes the place of the cluster's list of images.
func (f *planFlags) instead() (phases.Instead, error) {
	access, err := f.access()
	if err != nil {
		return phases.Instead{}, err
	}
	in := phases.Instead{Release: f.release, Credentials: access.Credentials}
	f.folders = map[string]string{}
	var problems []render.Problem
	if in.Images, problems = f.refs(); len(problems) > 0 {
		return in, asError(problems)
	}
	for _, dir := range f.dirs {
		profiles, problems := f.read(dir)
		if len(problems) > 0 {
			return in, asError(problems)
		}
		in.Folders = append(in.Folders, imageOf(profiles))
	}
	if f.payload == "" {
		return in, nil
	}
	// Whoever may write into the working directory does not say what a digest names.
	ref, noImage := images.ParseRef(f.payload)
	if noImage == nil {
		in.Payload = f.payloadImage(ref)
		return in, nil
	}
	if _, err := os.Stat(f.payload); err != nil {
		return in, fmt.Errorf("--payload %s is no folder, and no image: %w", f.payload, noImage)
	}
	list, err := payload.ConfigMap(os.DirFS(f.payload), phases.ImagesConfigMap)
	if err != nil {
		return in, err
	}
	if in, err = in.WithList(list); err != nil {
		err = fmt.Errorf("reading the payload in %s: %w", f.payload, err)
	}
	return in, err
}

// imageOf is the image that a folder stands for.
func imageOf(profiles []render.Profile) images.Image {
	image := images.Image{Ref: images.Ref(profiles[0].Image)}
	for _, p := range profiles {
		image.Profiles = append(image.Profiles, images.Profile{Name: p.Name, Metadata: p.Metadata, Manifests: p.Manifests})
	}
	return image
}

func asError(problems []render.Problem) error {
	var errs []error
	for _, problem := range problems {
		errs = append(errs, errors.New(problem.String()))
	}
	return errors.Join(errs...)
}

// addSet adds to the sources a set of images: an image by digest, which may be that of a release, the folder of one, a file with a list
// of images, or a folder with the manifests of a release.
func (s *sources) addSet(named string) error {
	// Whoever may write into the working directory does not say what a digest names.
	ref, noImage := images.ParseRef(named)
	if noImage == nil {
		s.images, s.sets = append(s.images, named), append(s.sets, ref)
		return nil
	}
	info, err := os.Stat(named)
	if err != nil {
		return fmt.Errorf("%s is no file and no folder, and no image: %w", named, noImage)
	}
	list := &corev1.ConfigMap{}
	if !info.IsDir() {
		text, err := os.ReadFile(named)
		if err == nil {
			err = yaml.UnmarshalStrict(text, list)
		}
		if err != nil || list.Kind != "ConfigMap" {
			return fmt.Errorf("reading the list of images in %s: it is no ConfigMap: %w", named, errors.Join(err))
		}
		return s.addList(list)
	}
	if list, err = payload.ConfigMap(os.DirFS(named), phases.ImagesConfigMap); err == nil {
		return s.addList(list)
	}
	s.dirs = append(s.dirs, named)
	return nil
}

func (s *sources) addList(list *corev1.ConfigMap) error {
	refs, err := phases.ListedImages(list)
	for _, ref := range refs {
		if !slices.Contains(s.images, string(ref)) {
			s.images = append(s.images, string(ref))
		}
	}
	return err
}
