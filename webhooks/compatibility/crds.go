package compatibility

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

type definition = apiextensionsv1.CustomResourceDefinition

// crds says whether a CustomResourceDefinition goes on to meet all requirements, which answer together. Which one it is says the
// object: a request has no name where names are generated.
func (s *Server) crds(ctx context.Context, c call) admission.Response {
	now, err := decode[definition](c.Object.Raw)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding a CustomResourceDefinition: %w", err))
	}
	before, err := decode[definition](c.OldObject.Raw)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding a CustomResourceDefinition: %w", err))
	}
	if c.Operation == admissionv1.Delete {
		now = nil
	}
	if now == nil && before == nil || before != nil && before.DeletionTimestamp != nil {
		return admission.Allowed("")
	}
	name := (&change{now: now, before: before}).name()
	requirements, err := s.about(ctx, name)
	if err != nil {
		return s.unknowable(c, err)
	}
	slices.SortFunc(requirements, func(a, b *requirement) int { return strings.Compare(a.Name, b.Name) })
	var refusals, warnings []string
	for _, r := range requirements {
		action := s.actions(ctx, r).CRDs
		if action == "" {
			continue
		}
		verdict := s.compare(ctx, r, change{now, before})
		if action == requirementsv1alpha1.CRDAdmitActionDeny && !isOpen(r) {
			if len(verdict.Missing) > 0 {
				refusals = append(refusals, line(r, crdschema.Text(verdict.Missing, textBytes)))
			}
		} else {
			verdict.Warnings = append(verdict.Missing, verdict.Warnings...)
		}
		if len(verdict.Warnings) > 0 {
			warnings = append(warnings, line(r, crdschema.Text(verdict.Warnings, textBytes)))
		}
	}
	response := admission.Allowed("")
	if len(refusals) > 0 {
		response = admission.Denied(together(refusals))
	}
	return response.WithWarnings(warnings...)
}

// unknowable answers for what nobody can judge now; softly makes a warning of it.
func (s *Server) unknowable(c call, err error) admission.Response {
	s.Log.Error(err, "A request cannot be judged", "resource", c.Resource.Resource, "name", c.Name)
	return admission.Errored(http.StatusInternalServerError, err)
}

// change is what happens to a definition: one of both is nil if it is created or deleted.
type change struct{ now, before *definition }

func (c change) name() string {
	if c.now != nil {
		return c.now.Name
	}
	return c.before.Name
}

// compare is one requirement's. A requirement that cannot be judged has its definition left as it is.
func (s *Server) compare(ctx context.Context, r *requirement, c change) (verdict crdschema.Verdict) {
	defer func() {
		if what := recover(); what != nil {
			s.panicked("crds", what)
			verdict = crdschema.Verdict{Missing: []string{"cannot be judged: " + errPanic.Error()}}
		}
	}()
	if c.now == nil {
		return crdschema.Verdict{Missing: []string{"needs " + c.before.Name + "; delete the requirement first, if nobody needs it any more"}}
	}
	found, err := s.need(ctx, r)
	switch {
	case err != nil:
		return crdschema.Verdict{Missing: []string{"cannot be judged now: " + err.Error()}}
	case found.err != nil:
		return crdschema.Verdict{Missing: []string{"cannot be judged: " + found.err.Error()}}
	case found.need.Name() != c.name():
		return crdschema.Verdict{Missing: []string{"cannot be judged: its data is about " + found.need.Name()}}
	}
	late := s.inTurn(ctx, func() {
		if verdict = found.need.Compare(c.now); c.before != nil {
			verdict = verdict.Ratchet(found.need.Compare(c.before))
		}
	})
	if late != nil {
		return crdschema.Verdict{Missing: []string{"cannot be judged now: " + late.Error()}}
	}
	return verdict
}

// together are lines as one message of bounded size; those that have no room are counted.
func together(lines []string) string {
	length := 0
	for i, line := range lines {
		if length += len(line) + 1; length > messageBytes {
			return strings.Join(append(slices.Clone(lines[:i]), fmt.Sprintf("and %d more", len(lines)-i)), "\n")
		}
	}
	return strings.Join(lines, "\n")
}

// cut keeps a message of one line to its size.
func cut(text string) string { return crdschema.Text([]string{text}, messageBytes) }

// softly answers for an endpoint that never holds anything up by what it cannot do.
func softly(judges verdict) verdict {
	return func(ctx context.Context, c call) admission.Response {
		response := judges(ctx, c)
		if !response.Allowed && response.Result.Code == http.StatusInternalServerError {
			return admission.Allowed("").WithWarnings(cut(response.Result.Message))
		}
		return response
	}
}
