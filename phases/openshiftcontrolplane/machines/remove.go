package machines

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// The kinds of what is taken down.
var (
	machines     = clusterv1.GroupVersion.WithKind(machineKind)
	machinePools = clusterv1.GroupVersion.WithKind("MachinePool")
	configs      = v1alpha1.GroupVersion.WithKind("OpenShiftConfig")
	secrets      = corev1.SchemeGroupVersion.WithKind("Secret")
	jobs         = batchv1.SchemeGroupVersion.WithKind("Job")
)

// metaOf is the metadata of an object, with its kind.
func metaOf(kind schema.GroupVersionKind, object metav1.ObjectMeta) *metav1.PartialObjectMetadata {
	one := &metav1.PartialObjectMetadata{ObjectMeta: object}
	one.SetGroupVersionKind(kind)
	return one
}

// remove asks for the deletion of the very object that was seen, once.
func (s *Seen) remove(ctx context.Context, one *metav1.PartialObjectMetadata, d *doing) error {
	return s.removeIf(ctx, one, client.Preconditions{UID: &one.UID}, d)
}

// removeIf does so under conditions of its own. Where they do not hold, it is to be done later.
func (s *Seen) removeIf(ctx context.Context, one *metav1.PartialObjectMetadata, only client.Preconditions, d *doing) error {
	if !one.DeletionTimestamp.IsZero() {
		return nil
	}
	if s.maker.removed.has(one.UID, s.maker.now()) {
		d.waits = true
		return nil
	}
	kind, key := one.GroupVersionKind().Kind, client.ObjectKeyFromObject(one)
	switch err := s.maker.client.Delete(ctx, one, only, client.PropagationPolicy(metav1.DeletePropagationBackground)); {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err): // another one of the name by now, or another version
		d.waits = true
		return nil
	case err != nil:
		return fmt.Errorf("deleting %s %s: %w", kind, key, err)
	}
	s.maker.removed.note(one.UID, s.maker.now())
	d.note("deleted", kind, key)
	return nil
}

// controlled lists what of a kind the OpenShiftControlPlane controls: of what it owns besides, somebody else has wanted it to be
// collected with it, such as inputs, and that is no word about an attempt.
func (s *Seen) controlled(ctx context.Context, from client.Reader, kind schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, error) {
	return s.listed(ctx, from, kind, func(one *metav1.PartialObjectMetadata) bool { return controlledBy(one, s.look.Plane.UID) })
}

// infrastructures lists live the infrastructure machines of the kinds that templates are of, as far as they are ours. A kind that is
// not served has none.
func (s *Seen) infrastructures(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	seen := map[schema.GroupKind]bool{}
	for _, w := range []wanted{s.wantedBootstrap(), s.wantedMaster(0)} {
		group := schema.GroupKind{Group: w.template.APIGroup, Kind: infrastructureKind(w.template)}
		if seen[group] {
			continue
		}
		seen[group] = true
		kind, served, err := s.served(group)
		if err != nil {
			return nil, err
		}
		if !served {
			continue
		}
		some, err := s.listed(ctx, s.maker.live, kind, func(one *metav1.PartialObjectMetadata) bool { return s.isOurs(one) })
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// served is the version of a kind that the API server prefers.
func (s *Seen) served(group schema.GroupKind) (schema.GroupVersionKind, bool, error) {
	mapping, err := s.maker.client.RESTMapper().RESTMapping(group)
	switch {
	case meta.IsNoMatchError(err):
		return schema.GroupVersionKind{}, false, nil
	case err != nil:
		return schema.GroupVersionKind{}, false, fmt.Errorf("looking for the kind %s: %w", group, err)
	}
	return mapping.GroupVersionKind, true, nil
}

func (s *Seen) listed(ctx context.Context, from client.Reader, kind schema.GroupVersionKind, take func(*metav1.PartialObjectMetadata) bool) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := from.List(ctx, list, s.here()...); err != nil {
		return nil, fmt.Errorf("listing %ss of Cluster %s: %w", kind.Kind, s.cluster, err)
	}
	var all []metav1.PartialObjectMetadata
	for i := range list.Items {
		if one := &list.Items[i]; take(one) {
			one.SetGroupVersionKind(kind)
			all = append(all, *one)
		}
	}
	return all, nil
}

// removeHalfMade deletes what has no Machine: infrastructure machines first, and then configs, without which nobody would look for
// the former. It says whether nothing is left. Which ones is by name, all for none; allowed is asked as by takeDown.
func (s *Seen) removeHalfMade(ctx context.Context, name string, allowed func() error, d *doing) (gone bool, err error) {
	left, err := s.infrastructures(ctx)
	if err == nil {
		err = allowed()
	}
	if err != nil {
		return false, err
	}
	waits := false
	for i := range left {
		if name == "" || left[i].Name == name {
			waits = true
			if err := s.removeIf(ctx, &left[i], asListed(left[i].ObjectMeta), d); err != nil {
				return false, err
			}
		}
	}
	if waits {
		return false, nil
	}
	for _, config := range s.configs {
		if name == "" || config.Name == name {
			waits = true
			if err := s.removeIf(ctx, metaOf(configs, config.ObjectMeta), asListed(config.ObjectMeta), d); err != nil {
				return false, err
			}
		}
	}
	return !waits, nil
}

// asListed has a deletion refused of what was changed since it was listed: a Machine may have it by then.
func asListed(one metav1.ObjectMeta) client.Preconditions {
	return client.Preconditions{UID: &one.UID, ResourceVersion: &one.ResourceVersion}
}
