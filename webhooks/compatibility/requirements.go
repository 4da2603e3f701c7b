package compatibility

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// requirements says whether what a requirement asks for can be judged, if that changes.
func (s *Server) requirements(ctx context.Context, c call) admission.Response {
	var problems field.ErrorList
	var undecoded error
	late := s.inTurn(ctx, func() {
		now, unread := decode[requirement](c.Object.Raw)
		before, unreadBefore := decode[requirement](c.OldObject.Raw)
		if undecoded = cmp.Or(unread, unreadBefore); undecoded != nil {
			return
		}
		if now == nil || before != nil && (before.DeletionTimestamp != nil || equality.Semantic.DeepEqual(now.Spec, before.Spec)) {
			return
		}
		problems = s.below.problems(ctx, now, before)
	})
	if late != nil {
		return admission.Errored(http.StatusInternalServerError, late)
	}
	if undecoded != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding a CompatibilityRequirement: %w", undecoded))
	}
	if len(problems) > 0 {
		kind := requirementsv1alpha1.GroupVersion.WithKind("CompatibilityRequirement").GroupKind()
		return invalid(apierrors.NewInvalid(kind, c.Name, problems), "")
	}
	return admission.Allowed("")
}

// invalid refuses with the fields that are to blame.
func invalid(err *apierrors.StatusError, prefix string) admission.Response {
	status := err.Status()
	status.Message = cut(prefix + status.Message)
	if status.Details != nil {
		status.Details.Causes = status.Details.Causes[:min(len(status.Details.Causes), linesTold)]
		for i := range status.Details.Causes {
			cause := &status.Details.Causes[i]
			cause.Message, cause.Field = crdschema.Text([]string{cause.Message}, textBytes), crdschema.Text([]string{cause.Field}, textBytes)
		}
	}
	response := admission.Response{}
	response.Result = &status
	return response
}
