package openshiftconfig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

// onePayload is what a Secret with the Ignition config of a role says, as it was read. Each config reads it once for itself after it has
// come, so that a cache that is behind does not give it the one of an attempt before. If it is lost, it is read again; one that is old
// has another version than the cache, and one that is forged has no owner or another sum.
type onePayload struct {
	version string
	// owner is its controller, nil for none.
	owner *metav1.OwnerReference
	// config is the Ignition config; spoilt says why it is none, altered that it is not what its sum was noted of.
	config  []byte
	spoilt  error
	altered bool
	url     string
}

// readPayload returns what a Secret of a control plane says, nothing where it is gone. Of one that is another's only the owner is looked at.
func readPayload(ctx context.Context, live client.Reader, key client.ObjectKey, plane string) (*onePayload, error) {
	secret := &corev1.Secret{}
	found, err := get(ctx, live, key, secret)
	if err != nil || !found {
		return &onePayload{}, err
	}
	one := &onePayload{version: version(secret), owner: metav1.GetControllerOf(secret), url: secret.Annotations[v1alpha1.PayloadURLAnnotation]}
	if !one.isOf(plane) {
		return one, nil
	}
	one.config, one.spoilt = payload.Unpacked(secret.Data)
	one.altered = one.spoilt == nil && payload.Sum(one.config) != secret.Annotations[v1alpha1.PayloadSumAnnotation]
	return one, nil
}

// isOf says that a control plane of a name owns the payload.
func (p *onePayload) isOf(plane string) bool {
	return p.owner != nil && p.owner.Kind == planeKind && p.owner.Name == plane
}

// kept is the payload if it is one that may be kept in memory: one that fits into no data Secret, 16 MiB at most, is not.
func (p *onePayload) kept() *onePayload {
	if p == nil || ignition.Fits(p.config) != nil {
		return nil
	}
	return p
}
