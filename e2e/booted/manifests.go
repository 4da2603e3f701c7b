package booted

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// create stores every manifest of a disk, in the order of their files, and the status that one says, as a bootstrap does. A namespace
// that none of them makes is made: those of OpenShift's components come with the payload.
func (g *Guest) create(ctx context.Context, from disk) error {
	for _, path := range slices.Sorted(maps.Keys(from)) {
		if !strings.HasPrefix(path, home+"/manifests/") && !strings.HasPrefix(path, home+"/openshift/") {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(from[path], &object.Object); err != nil {
			return fmt.Errorf("reading manifest %s: %w", path, err)
		}
		if err := g.store(ctx, object); err != nil {
			return fmt.Errorf("storing manifest %s: %w", path, err)
		}
	}
	return nil
}

func (g *Guest) store(ctx context.Context, object *unstructured.Unstructured) error {
	if name := object.GetNamespace(); name != "" {
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := g.API.Create(ctx, space); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	status, has := object.Object["status"]
	if err := g.API.Create(ctx, object); err != nil || !has {
		return err
	}
	object.Object["status"] = status
	return g.API.Status().Update(ctx, object)
}
