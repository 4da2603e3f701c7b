package packaging

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Registry is the one registry whose images a release knows how to replace by its own.
const Registry = "registry.ci.openshift.org"

// refuseForeignImages names every container whose image no release would replace.
func refuseForeignImages(objects []*unstructured.Unstructured) error {
	var foreign []error
	for _, object := range objects {
		containers, err := containers(object)
		if err != nil {
			return err
		}
		for _, container := range containers {
			image, err := container.text("image")
			if err != nil {
				return err
			}
			if strings.HasPrefix(image, Registry+"/") {
				continue
			}
			name, err := container.text("name")
			if err != nil {
				return err
			}
			foreign = append(foreign, container.errorf("image",
				"is %q: the image of container %q must be in %s; replace it with 'images' in the kustomization", image, name, Registry))
		}
	}
	return errors.Join(foreign...)
}
