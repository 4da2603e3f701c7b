package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// given is an annotation on a Machine that names the labels and annotations that the template has given it, so that those that leave
// the template are taken off. If it is lost, they stay; a forged one takes off what its author could take off, too.
const given = "capstan.openshift.io/template-metadata"

// keys are the names of what a template gives.
type keys struct {
	Labels      []string `json:"labels,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
}

// formerly are the keys that a Machine has been given.
func formerly(one *clusterv1.Machine) keys {
	var k keys
	if json.Unmarshal([]byte(one.Annotations[given]), &k) != nil {
		return keys{}
	}
	return k
}

func (s *Seen) given() keys {
	template := s.look.Plane.Spec.MachineTemplate.ObjectMeta
	return keys{Labels: slices.Sorted(maps.Keys(template.Labels)), Annotations: slices.Sorted(maps.Keys(template.Annotations))}
}

// dress gives an object the labels and annotations of a role's machines, takes off those that it was given formerly, and leaves those
// of others.
func (s *Seen) dress(object *metav1.ObjectMeta, role v1alpha1.Role, formerly keys) {
	for _, key := range formerly.Labels {
		delete(object.Labels, key)
	}
	for _, key := range formerly.Annotations {
		delete(object.Annotations, key)
	}
	for key, value := range labelsOf(s.look.Plane, s.cluster, role) {
		metav1.SetMetaDataLabel(object, key, value)
	}
	for key, value := range annotationsOf(s.look.Plane, role) {
		metav1.SetMetaDataAnnotation(object, key, value)
	}
}

// dressOthers gives a Machine's config and infrastructure machine what the Machine is given.
func (s *Seen) dressOthers(ctx context.Context, one *clusterv1.Machine, role v1alpha1.Role, formerly keys) error {
	infrastructure, config := one.Spec.InfrastructureRef, one.Spec.Bootstrap.ConfigRef
	for _, ref := range []clusterv1.ContractVersionedObjectReference{infrastructure, config} {
		kind, served, err := s.served(schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
		if err != nil {
			return err
		}
		if !served {
			continue
		}
		key := client.ObjectKey{Namespace: one.Namespace, Name: ref.Name}
		object := metaOf(kind, metav1.ObjectMeta{})
		if err := s.maker.live.Get(ctx, key, object); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("reading %s %s: %w", kind.Kind, key, err)
		}
		before := object.DeepCopy()
		s.dress(&object.ObjectMeta, role, formerly)
		if !s.isOurs(before) || equality.Semantic.DeepEqual(before, object) {
			continue
		}
		if err := client.IgnoreNotFound(s.maker.client.Patch(ctx, object, client.MergeFrom(before))); err != nil {
			return fmt.Errorf("updating %s %s: %w", kind.Kind, key, err)
		}
	}
	return nil
}
