package compatibility

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/strict"
)

// requirements says whether what a requirement asks for can be judged, if that changes.
func (s *Server) requirements(ctx context.Context, c call) admission.Response {
	now, err := decode[requirement](c.Object.Raw)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding a CompatibilityRequirement: %w", err))
	}
	before, err := decode[requirement](c.OldObject.Raw)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding a CompatibilityRequirement: %w", err))
	}
	if now == nil || before != nil && (before.DeletionTimestamp != nil || equality.Semantic.DeepEqual(now.Spec, before.Spec)) {
		return admission.Allowed("")
	}
	var problems field.ErrorList
	if err := s.inTurn(ctx, func() { problems = strict.Problems(ctx, now, before) }); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
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

// decode reads an object of a request, nil if it has none.
func decode[T any](raw []byte) (*T, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	object := new(T)
	return object, json.Unmarshal(raw, object)
}
