package inputs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

// lastLog is the end of an installer's log, as long as its Secret has the same version.
type lastLog struct{ version, text string }

// seeLog fills in the end of what the installer has printed in its last attempt that has failed, for people. It is read from the Secret
// of its Job, so that it is told for as long as that is there, whoever was the process that has met the failure.
func (s *Seen) seeLog(ctx context.Context) error {
	if s.engine() != v1alpha1.InstallerJob || s.frozen() == "" || s.facts.Payload.Roles.IsDone() {
		return nil
	}
	is, err := s.result(ctx)
	if err != nil || is == nil {
		return err
	}
	if last := s.memory.log; last.version != version(is) {
		secret := &corev1.Secret{}
		if err := s.r.live.Get(ctx, client.ObjectKeyFromObject(is), secret); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the installer's log: %w", err)
		}
		// What is secret of the inputs was taken out by who has stored it, who had them; others may have written it, too.
		s.memory.log = lastLog{version: version(is), text: job.Tail(secret.Data[job.LogKey], nil)}
	}
	s.facts.Payload.Log = s.memory.log.text
	return nil
}

// result is the Secret of the installer's Job, nil for none.
func (s *Seen) result(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := s.r.client.List(ctx, list, client.InNamespace(s.look.Plane.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: s.look.Cluster.Name}, asCached)
	if err != nil {
		return nil, fmt.Errorf("looking for what the installer has made: %w", err)
	}
	for i := range list.Items {
		one := &list.Items[i]
		if metav1.IsControlledBy(one, s.look.Plane) && job.IsJobName(s.look.Plane.Name, one.Name) {
			return one, nil
		}
	}
	return nil, nil
}
