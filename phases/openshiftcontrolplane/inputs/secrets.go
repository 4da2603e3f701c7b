package inputs

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

// soon is after how long what was written is looked at, if no watch tells of it before.
const soon = time.Second

// through is a client that reads from the API server itself: what Cluster API's libraries store they read before.
func (r *Resolver) through() client.Client { return liveClient{Client: r.client, live: r.live} }

type liveClient struct {
	client.Client
	live client.Reader
}

func (c liveClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.live.Get(ctx, key, o, opts...)
}

func (c liveClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.live.List(ctx, list, opts...)
}

func (s *Seen) clusterKey() client.ObjectKey { return client.ObjectKeyFromObject(s.look.Cluster) }

// owner is the controller of all that is made.
func (s *Seen) owner() metav1.OwnerReference {
	return *metav1.NewControllerRef(s.look.Plane, v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))
}

// held are Secrets of ours as the API server had them, by name; those that were not there are not here.
type held map[string]*corev1.Secret

func (h held) annotation(name, key string) string {
	if is := h[name]; is != nil {
		return is.Annotations[key]
	}
	return ""
}

// keptNames are those of the Secrets in which a payload is kept, and what it was sealed with.
func (s *Seen) keptNames() []string {
	names := []string{payload.KeysName(s.look.Plane.Name)}
	for _, role := range payload.Roles {
		names = append(names, payload.SecretName(s.look.Plane.Name, role))
	}
	return names
}

// held reads Secrets of ours. One of somebody else is a conflict.
func (s *Seen) held(ctx context.Context, names ...string) (held, error) {
	all := held{}
	for _, name := range names {
		is := &corev1.Secret{}
		if found, err := s.ours(ctx, name, is); err != nil {
			return nil, err
		} else if found {
			all[name] = is
		}
	}
	return all, nil
}

// keep has a Secret of ours hold data, and nothing else, with annotations among its own. It is created where it was not there, and changed
// only as it was: errors are conflicts, or that it exists, where somebody else has written it since.
func (s *Seen) keep(ctx context.Context, was held, name string, data map[string][]byte, annotations map[string]string) error {
	before := was[name]
	if before == nil {
		if err := s.r.client.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.look.Plane.Namespace, Name: name, Annotations: annotations, OwnerReferences: []metav1.OwnerReference{s.owner()},
				Labels: map[string]string{clusterv1.ClusterNameLabel: s.look.Cluster.Name},
			},
			Type: clusterv1.ClusterSecretType, Data: data,
		}); err != nil {
			return fmt.Errorf("storing Secret %s: %w", name, err)
		}
		return nil
	}
	secret := before.DeepCopy()
	secret.Data = data
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	maps.Copy(secret.Annotations, annotations)
	metav1.SetMetaDataLabel(&secret.ObjectMeta, clusterv1.ClusterNameLabel, s.look.Cluster.Name) // by which it is watched, moved and taken down
	if equality.Semantic.DeepEqual(before, secret) {
		return nil
	}
	if err := s.r.client.Update(ctx, secret); err != nil {
		return fmt.Errorf("storing Secret %s: %w", name, err)
	}
	return nil
}

// isRaced says that somebody else has written at the same time.
func isRaced(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// storedKeys are the keys that are stored already, and until when a payload is valid that is made with them: never, if it is to be
// made anew. The cluster keeps its UUID.
func (s *Seen) storedKeys(was held, mayMake bool) (map[string][]byte, time.Time) {
	secret := was[payload.KeysName(s.look.Plane.Name)]
	if secret == nil {
		return nil, time.Time{}
	}
	ends := timeOf(secret.Annotations[v1alpha1.PayloadNotAfterAnnotation])
	if ends.IsZero() || s.mayRemake(mayMake, ends) {
		return map[string][]byte{keys.ClusterIDKey: secret.Data[keys.ClusterIDKey]}, time.Time{}
	}
	return secret.Data, ends
}

// timeOf is a time in the form of RFC 3339, zero for something else.
func timeOf(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// delivered is a config as the data of its Secret. One that is too large is refused, unless machines get a stub of it.
func (s *Seen) delivered(config []byte) (map[string][]byte, error) {
	if s.look.Plane.Spec.Ignition.Delivery != v1alpha1.StubDelivery {
		if err := ignition.Fits(config); err != nil {
			return nil, err
		}
	}
	return payload.Packed(config)
}

func short(digest string) string { return digest[:min(12, len(digest))] }
