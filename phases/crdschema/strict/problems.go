package strict

import (
	"context"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// Problems is what is wrong with a requirement that is created (before is nil) or updated, each with its field. An update that
// leaves the specification alone has none.
func Problems(_ context.Context, now, before *requirementsv1alpha1.CompatibilityRequirement) field.ErrorList {
	if before != nil && equality.Semantic.DeepEqual(now.Spec, before.Spec) {
		return nil
	}
	need, problems := crdschema.Problems(&now.Spec)
	if need == nil {
		return problems
	}
	return problems
}
