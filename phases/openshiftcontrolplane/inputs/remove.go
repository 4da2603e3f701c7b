package inputs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

// RemoveKeys deletes what the payload was sealed with and what an installer has made, once the bootstrap is finished and its config is
// gone: nobody needs them then, and an administrator's key is among them. They are told by their names, since others may annotate any Secret
// of ours, and an authority that is lost is lost for good. It reads caches only, and is safe to do on every pass.
func (s *Seen) RemoveKeys(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil || s.look.Cluster == nil || !s.facts.Reached().Finished {
		return machine.Result{}, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.r.client.List(ctx, list, client.InNamespace(s.look.Plane.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: s.look.Cluster.Name}, asCached); err != nil {
		return machine.Result{}, fmt.Errorf("looking for the keys of the payload: %w", err)
	}
	var spent []*metav1.PartialObjectMetadata
	for i := range list.Items {
		one := &list.Items[i]
		if !metav1.IsControlledBy(one, s.look.Plane) || !one.DeletionTimestamp.IsZero() {
			continue
		}
		if one.Name == payload.SecretName(s.look.Plane.Name, payload.Bootstrap) {
			return machine.Result{}, nil // it is retained, or about to go
		}
		if one.Name == payload.KeysName(s.look.Plane.Name) || job.IsJobName(s.look.Plane.Name, one.Name) {
			spent = append(spent, one)
		}
	}
	var result machine.Result
	for _, one := range spent {
		one.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		uid := one.UID
		if err := s.r.client.Delete(ctx, one, client.Preconditions{UID: &uid}); err != nil && !apierrors.IsNotFound(err) {
			return result, fmt.Errorf("deleting Secret %s: %w", one.Name, err)
		}
		result.Did = "deleted the keys of the payload"
	}
	return result, nil
}
