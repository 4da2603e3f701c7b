package compatibility

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

type definition = apiextensionsv1.CustomResourceDefinition

// crds says whether a CustomResourceDefinition goes on to meet all requirements, which answer together. Which one it is says the
// object: a request has no name where names are generated. It is read only if somebody needs it.
func (s *Server) crds(ctx context.Context, c call) admission.Response {
	now, err := headOf(c.Object.Raw)
	if err != nil {
		return undecoded(err)
	}
	before, err := headOf(c.OldObject.Raw)
	if err != nil {
		return undecoded(err)
	}
	if c.Operation == admissionv1.Delete {
		now = nil
	}
	if now == nil && before == nil || before != nil && before.goes {
		return admission.Allowed("")
	}
	of := now
	if now == nil {
		of = before
	}
	all, err := s.questions(ctx, c, of.name, now == nil)
	if err != nil {
		return s.unknowable(c, err)
	}
	if len(all) == 0 {
		return admission.Allowed("")
	}
	if now == nil {
		return together(all, func(*question) crdschema.Verdict { return needed(of.name) })
	}
	var response admission.Response
	late := s.inTurn(ctx, func() {
		written, err := decode[definition](c.Object.Raw)
		stored := sync.OnceValue(func() *definition { // which is as large, and is asked only about what is missing now
			stored, unread := decode[definition](c.OldObject.Raw)
			if unread != nil {
				return nil // it may go, and nothing tells what it has lacked
			}
			return stored
		})
		response = together(all, func(q *question) crdschema.Verdict {
			if err != nil {
				return unjudged("cannot be judged: decoding the CustomResourceDefinition: " + err.Error())
			}
			return s.compare(ctx, q, written, stored)
		})
	})
	if late != nil {
		return together(all, func(*question) crdschema.Verdict { return unjudged("cannot be judged now: " + late.Error()) })
	}
	return response
}

func undecoded(err error) admission.Response {
	return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding a CustomResourceDefinition: %w", err))
}

// question is what one requirement asks of a definition.
type question struct {
	requirement *requirement
	denies      bool
	found       decoded
	err         error // why nothing is found now
	panicked    bool  // judging it has ended in a panic
}

// questions are those that a definition is asked, sorted by requirement. Of one that goes nothing is asked but its name.
func (s *Server) questions(ctx context.Context, c call, name string, goes bool) (all []*question, err error) {
	requirements, err := s.about(ctx, name)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(requirements, func(a, b *requirement) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range requirements {
		action := s.actions(ctx, r).CRDs
		if action == "" {
			continue
		}
		q := &question{requirement: r, denies: action == requirementsv1alpha1.CRDAdmitActionDeny && !isOpen(r) && !c.warns}
		if !goes {
			q.found, q.err = s.need(ctx, r)
		}
		all = append(all, q)
	}
	return all, nil
}

// together is one answer of all requirements: a refusal, or an error of the checker's own if that is why one refuses.
func together(all []*question, judge func(*question) crdschema.Verdict) admission.Response {
	var refusals, warnings []string
	panicked := false
	for _, q := range all {
		verdict := judge(q)
		if !q.denies {
			verdict = crdschema.Verdict{Warnings: append(verdict.Missing, verdict.Warnings...)}
		}
		if len(verdict.Missing) > 0 {
			refusals = append(refusals, line(q.requirement, crdschema.Text(verdict.Missing, textBytes)))
			panicked = panicked || q.panicked
		}
		if len(verdict.Warnings) > 0 {
			warnings = append(warnings, line(q.requirement, crdschema.Text(verdict.Warnings, textBytes)))
		}
	}
	response := admission.Allowed("")
	if len(refusals) > 0 {
		response = admission.Denied(joined(refusals))
	}
	if panicked {
		response = admission.Errored(http.StatusInternalServerError, errors.New(joined(refusals)))
	}
	return response.WithWarnings(warnings...)
}

// unknowable answers for what nobody can judge now.
func (s *Server) unknowable(c call, err error) admission.Response {
	s.Log.Error(err, "A request cannot be judged", "resource", c.Resource.Resource, "name", c.Name)
	return admission.Errored(http.StatusInternalServerError, err)
}

func unjudged(why string) crdschema.Verdict { return crdschema.Verdict{Missing: []string{why}} }

func needed(name string) crdschema.Verdict {
	return unjudged("needs " + name + "; delete the requirement first, if nobody needs it any more")
}

// compare is one requirement's. A requirement that cannot be judged has its definition left as it is. Nothing is stored before a
// definition is created.
func (s *Server) compare(ctx context.Context, q *question, now *definition, before func() *definition) (verdict crdschema.Verdict) {
	defer func() {
		if what := recover(); what != nil {
			s.panicked(ctx, what)
			verdict, q.panicked = unjudged("cannot be judged: "+errPanic.Error()), true
		}
	}()
	q.panicked = errors.Is(q.found.err, errPanic)
	switch {
	case q.err != nil:
		return unjudged("cannot be judged now: " + q.err.Error())
	case q.found.err != nil:
		return unjudged("cannot be judged: " + q.found.err.Error())
	case q.found.need.Name() != now.Name:
		return unjudged("cannot be judged: its data is about " + q.found.need.Name())
	}
	verdict = q.found.need.Compare(now)
	if len(verdict.Missing) == 0 {
		return verdict
	}
	if stored := before(); stored != nil {
		verdict = verdict.Ratchet(q.found.need.Compare(stored))
	}
	return verdict
}

// joined are lines as one message of bounded size; those that have no room are counted.
func joined(lines []string) string {
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
