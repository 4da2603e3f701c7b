package machines

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// besides are the kinds of what an installer is given of its name, in the order in which it goes: rights first.
var besides = []schema.GroupVersionKind{
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
	rbacv1.SchemeGroupVersion.WithKind("Role"),
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
}

// besideInstallers are what Jobs of an installer were given that are there or were about to be. There is no right to list them, so they
// are found by the name that a Job and the Secret of its result share with them: both have to be there until these are gone.
func (s *Seen) besideInstallers(ctx context.Context, started []metav1.PartialObjectMetadata) ([]metav1.PartialObjectMetadata, error) {
	var names []string
	for i := range started {
		names = append(names, started[i].Name)
	}
	for i := range s.secrets {
		if s.secrets[i].Annotations[v1alpha1.PayloadNotAfterAnnotation] != "" && !s.isPayload(s.secrets[i].Name) {
			names = append(names, s.secrets[i].Name)
		}
	}
	slices.Sort(names)
	var all []metav1.PartialObjectMetadata
	for _, name := range slices.Compact(names) {
		for _, kind := range besides {
			one, key := metaOf(kind, metav1.ObjectMeta{}), client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: name}
			switch err := s.maker.live.Get(ctx, key, one); {
			case apierrors.IsNotFound(err):
			case err != nil:
				return nil, fmt.Errorf("reading %s %s: %w", kind.Kind, key, err)
			case controlledBy(one, s.look.Plane.UID):
				all = append(all, *one)
			}
		}
	}
	return all, nil
}

// isPayload says that a name is that of a role's payload.
func (s *Seen) isPayload(name string) bool {
	return slices.ContainsFunc([]v1alpha1.Role{v1alpha1.BootstrapRole, v1alpha1.MasterRole, v1alpha1.WorkerRole}, func(role v1alpha1.Role) bool {
		return name == payloadName(s.look.Plane.Name, role)
	})
}
