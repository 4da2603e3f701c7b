package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RequirementsCRD is the definition of requirements.
var RequirementsCRD = "compatibilityrequirements." + requirementsv1alpha1.GroupName

// IsUnserved says that a 404 is not about an object, which an API server names: nobody answers for the kind.
func IsUnserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return meta.IsNoMatchError(err)
	}
	about := status.Status().Details
	return about == nil || about.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// CheckUnserved is an error unless the API server says, of the definition of requirements, that a cluster has none. An API
// server that is starting answers 404, too, of what it serves a moment later.
func CheckUnserved(ctx context.Context, live client.Reader) error {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	err := live.Get(ctx, client.ObjectKey{Name: RequirementsCRD}, definition)
	switch {
	case IsAbsent(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading CRD %s, since CompatibilityRequirements are not served: %w", RequirementsCRD, err)
	}
	served := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Served && v.Name == requirementsv1alpha1.GroupVersion.Version
	}
	if !apiextensionshelpers.IsCRDConditionTrue(definition, apiextensionsv1.Established) || !slices.ContainsFunc(definition.Spec.Versions, served) {
		return nil
	}
	return fmt.Errorf("the API server has CRD %s and does not serve it: nothing is loosened until it does; tried again by itself; if it lasts, look at kube-apiserver", RequirementsCRD)
}

// Gone says by the error of reading requirements whether there is none: the API server says so of the requirement, or of the
// definition of requirements. Any other error comes back.
func Gone(ctx context.Context, live client.Reader, err error) (bool, error) {
	if IsUnserved(err) {
		err = CheckUnserved(ctx, live)
		return err == nil, err
	}
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// IsAbsent says that an object is not there, and that its kind is served.
func IsAbsent(err error) bool { return apierrors.IsNotFound(err) && !IsUnserved(err) }
