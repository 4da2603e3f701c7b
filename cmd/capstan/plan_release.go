package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/cmd/capstan/payload"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
)

// releaseFolder is where a release image has its manifests, as oc adm release new makes it.
const releaseFolder = "/release-manifests"

// payloadImage is the release image that takes the place of the cluster's list of images.
func (f *planFlags) payloadImage(ref images.Ref) *phases.Payload {
	if f.progress != nil && f.output == "text" {
		fmt.Fprintf(f.progress, "Reading the manifests in release image %s, for which all its layers are pulled.\n", ref.Short())
	}
	return &phases.Payload{Ref: ref, Folder: releaseFolder, List: func(files map[string][]byte) (*corev1.ConfigMap, error) {
		return payload.ConfigMapOf(files, phases.ImagesConfigMap)
	}}
}
