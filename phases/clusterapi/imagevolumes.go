package clusterapi

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/capstan-capi/capstan/phases/images"
)

// imageVolumes asks the operator's own Pod which images are mounted where. A folder cannot tell whose content it holds,
// and the list of images says what is wanted, not what is there. The volumes of a Pod cannot be changed, so asking once
// is enough. It is nil where no folder is looked at.
func imageVolumes(o Options) (func(context.Context) (map[images.Ref]string, error), error) {
	if o.ProviderImageDir == "" {
		return nil, nil
	}
	core, err := corev1client.NewForConfigAndClient(o.REST, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("making the client of the operator's own Pod: %w", err)
	}
	return func(ctx context.Context) (map[images.Ref]string, error) {
		pod, err := core.Pods(o.OperatorNamespace).Get(ctx, o.PodName, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading the operator's own Pod %s/%s: %w", o.OperatorNamespace, o.PodName, err)
		}
		return mountedImages(pod, o.ProviderImageDir), nil
	}, nil
}

// operatorContainer is the operator's own in its Pod.
const operatorContainer = "capstan"

// mountedImages are the folders of the images that a Pod's operator mounts as a whole below a folder, by their references.
func mountedImages(pod *corev1.Pod, below string) map[images.Ref]string {
	volumes := map[string]images.Ref{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Image == nil {
			continue
		}
		if ref, err := images.ParseRef(volume.Image.Reference); err == nil {
			volumes[volume.Name] = ref
		}
	}
	found := map[images.Ref]string{}
	for _, container := range pod.Spec.Containers {
		if container.Name != operatorContainer {
			continue // what others see of a volume says nothing of this file system
		}
		for _, mount := range container.VolumeMounts {
			ref, is := volumes[mount.Name]
			within, err := filepath.Rel(below, mount.MountPath)
			if is && err == nil && within != ".." && !strings.HasPrefix(within, "../") && mount.SubPath == "" && mount.SubPathExpr == "" {
				found[ref] = mount.MountPath
			}
		}
	}
	return found
}
