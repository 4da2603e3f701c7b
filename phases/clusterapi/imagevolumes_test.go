package clusterapi

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/phases/images"
)

func TestMountedImages_are_the_image_volumes_below_the_folder(t *testing.T) {
	digest := func(letter string) string { return "registry.example.com/core@sha256:" + strings.Repeat(letter, 64) }
	pod := &corev1.Pod{}
	mount := func(name, reference string, at corev1.VolumeMount) {
		volume := corev1.Volume{Name: name}
		if reference != "" {
			volume.Image = &corev1.ImageVolumeSource{Reference: reference}
		}
		at.Name = name
		pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
		if len(pod.Spec.Containers) == 0 {
			pod.Spec.Containers = []corev1.Container{{Name: operatorContainer}, {Name: "another"}}
		}
		pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, at)
	}
	mount("core", digest("a"), corev1.VolumeMount{MountPath: "/images/core"})
	mount("aws", digest("b"), corev1.VolumeMount{MountPath: "/images/deep/aws"})
	mount("elsewhere", digest("c"), corev1.VolumeMount{MountPath: "/other"})
	mount("beside", digest("d"), corev1.VolumeMount{MountPath: "/images-of-others"})
	mount("tagged", "registry.example.com/core:latest", corev1.VolumeMount{MountPath: "/images/tagged"})
	mount("part", digest("e"), corev1.VolumeMount{MountPath: "/images/part", SubPath: "manifests"})
	mount("cache", "", corev1.VolumeMount{MountPath: "/images/cache"})
	pod.Spec.Containers[1].VolumeMounts = []corev1.VolumeMount{{Name: "unused", MountPath: "/images/unused"}, {Name: "core", MountPath: "/images/aws"}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "unused", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: digest("f")}}})
	want := map[images.Ref]string{images.Ref(digest("a")): "/images/core", images.Ref(digest("b")): "/images/deep/aws"}
	if got := mountedImages(pod, "/images"); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
