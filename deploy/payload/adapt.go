package payload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// operatorTag is the tag of the operator's own image; all others are provider images.
const operatorTag = "cluster-api-operator"

// checker is the Deployment of the webhooks.
const checker = "capstan-webhooks"

// images are the references of image-references by tag.
type images map[string]string

func parseImages(references []byte) (images, error) {
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string `json:"name"`
				From struct {
					Name string `json:"name"`
				} `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(references, &stream); err != nil {
		return nil, fmt.Errorf("parsing %s: %w", imageReferences, err)
	}
	found := images{}
	for _, tag := range stream.Spec.Tags {
		found[tag.Name] = tag.From.Name
	}
	if found[operatorTag] == "" {
		return nil, fmt.Errorf("%s has no tag %s", imageReferences, operatorTag)
	}
	return found, nil
}

// adapt changes what a release has in another way than kustomize.
func adapt(object *unstructured.Unstructured, images images) error {
	annotate(object, everywhere)
	switch {
	case object.GetKind() == "Deployment" && object.Object["spec"] != nil:
		return adaptDeployment(object, images)
	case object.GetKind() == "ConfigMap" && object.GetName() == "capi-installer-images":
		return listProviders(object, images)
	}
	return nil
}

// adaptDeployment gives the operator's Deployment the one replica that clusters of
// a single node must have: the cluster-version operator puts back every other
// number, also the one of a payload for larger clusters, and 1 where a manifest has
// none. The operator makes the checker's second replica of a Deployment of its own, and
// keeps it off the node of the first by the affinity that both have.
func adaptDeployment(object *unstructured.Unstructured, images images) error {
	if object.GetName() != checker {
		unstructured.RemoveNestedField(object.Object, "spec", "template", "spec", "affinity")
	}
	if err := unstructured.SetNestedField(object.Object, int64(1), "spec", "replicas"); err != nil {
		return err
	}
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return err
	}
	for i, container := range containers {
		fields, ok := container.(map[string]any)
		if image := fmt.Sprint(fields["image"]); !ok || !strings.HasPrefix(image, "capstan:") {
			return fmt.Errorf("container %d has image %q, which stands for nothing in the release", i, image)
		}
		fields["image"] = images[operatorTag]
	}
	return unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")
}

// listProviders lists the images of the release, for the operator of this release:
// the one before it is still running when the list comes. It names their keys,
// since those of another release stay: the data of a ConfigMap is merged.
func listProviders(object *unstructured.Unstructured, images images) error {
	listed := maps.Clone(images)
	delete(listed, operatorTag)
	annotate(object, map[string]string{
		"capi-operator.openshift.io/release-version": "0.0.1-snapshot",
		"capi-operator.openshift.io/image-keys":      strings.Join(slices.Sorted(maps.Keys(listed)), ","),
	})
	return unstructured.SetNestedStringMap(object.Object, listed, "data")
}

func annotate(object *unstructured.Unstructured, more map[string]string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, more)
	object.SetAnnotations(annotations)
}
