package main

import (
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/cmd/capstan/payload"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
)

const (
	// releaseFolder is where a release image has its manifests, as oc adm release new makes it.
	releaseFolder = "/release-manifests"
	// listsFolder is the folder of the cache with the lists of images that release images have, by digest: such an image has
	// hundreds of megabytes.
	listsFolder = "releases"
)

// insteadOf is what takes the place of the cluster's list of images when the image of a release is named.
func (f *planFlags) insteadOf(in phases.Instead) (phases.Instead, error) {
	ref, err := images.ParseRef(f.payload)
	if err != nil {
		return in, fmt.Errorf("--payload %s is no folder, and no image: %w", f.payload, err)
	}
	if list := f.keptList(ref); list != nil {
		return in.WithList(list)
	}
	if f.progress != nil && f.output == "text" {
		fmt.Fprintf(f.progress, "Reading the manifests in release image %s, all layers of it; they are kept for the next time.\n", ref.Short())
	}
	in.Payload = &phases.Payload{Ref: ref, Folder: releaseFolder, List: func(files map[string][]byte) (*corev1.ConfigMap, error) {
		list, err := payload.ConfigMapOf(files, phases.ImagesConfigMap)
		if err != nil {
			return nil, err
		}
		f.keepList(ref, list)
		return list, nil
	}}
	return in, nil
}

func (s *sources) listFile(ref images.Ref) string {
	return filepath.Join(s.cacheDir, listsFolder, ref.Digest()+".yaml")
}

// keptList is the list of a release image that was read before; nil if it was not, or cannot be read any more.
func (s *sources) keptList(ref images.Ref) *corev1.ConfigMap {
	if s.cacheDir == "" {
		return nil
	}
	list := &corev1.ConfigMap{}
	text, err := os.ReadFile(s.listFile(ref))
	if err != nil || yaml.UnmarshalStrict(text, list) != nil || list.Name != phases.ImagesConfigMap {
		return nil
	}
	return list
}

// keepList keeps a list for the next time. That it cannot be kept costs time then, and is no error now. The list takes its name
// when it is whole.
func (s *sources) keepList(ref images.Ref, list *corev1.ConfigMap) {
	file := s.listFile(ref)
	text, err := yaml.Marshal(list)
	if s.cacheDir == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	part, err := os.CreateTemp(filepath.Dir(file), "part-*")
	if err != nil {
		return
	}
	_, err = part.Write(text)
	if part.Close() != nil || err != nil || os.Rename(part.Name(), file) != nil {
		_ = os.Remove(part.Name())
	}
}
