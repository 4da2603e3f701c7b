package compatibility

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema/judge"
	"github.com/capstan-capi/capstan/phases/crdschema/live"
)

// prune takes out of an object what whoever has the requirement does not know. A requirement that only warns has it kept, and
// the validating endpoint tells of it.
func (s *Server) prune(ctx context.Context, c call) admission.Response {
	t, err := s.trial(ctx, c)
	if t == nil || t.warns || err != nil {
		return t.unless(err, c)
	}
	kept, err := s.keeps(ctx, c)
	if err != nil {
		return t.unless(err, c)
	}
	return s.tried(ctx, c, t, func() admission.Response {
		pruned := t.judge.Prune(t.now.Object, t.old(), kept, c.SubResource)
		if len(pruned) == 0 {
			return admission.Allowed("")
		}
		raw, err := t.now.MarshalJSON()
		if err != nil {
			return t.unless(fmt.Errorf("encoding the object: %w", err), c)
		}
		texts := make([]string, 0, len(pruned))
		for _, path := range pruned {
			texts = append(texts, unknownField(path)+" is pruned")
		}
		return admission.PatchResponseFromRaw(c.Object.Raw, raw).WithWarnings(lines(t.requirement, texts)...)
	})
}

// keeps is what the live definition has the object keep. It is compiled once for each of its generations, which the cache
// knows; a definition that is not there keeps nothing.
func (s *Server) keeps(ctx context.Context, c call) (*judge.Kept, error) {
	name := client.ObjectKey{Name: c.Resource.Resource + "." + c.Resource.Group}
	seen := &metav1.PartialObjectMetadata{}
	seen.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := s.Cached.Get(ctx, name, seen)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the cached CustomResourceDefinition %s: %w", name.Name, err)
	}
	compile := func(ctx context.Context) (*judge.Kept, int, error) {
		var kept *judge.Kept
		var weight int
		var err error
		late := s.inTurn(ctx, func() {
			var now *definition
			var beyond *live.BeyondError
			switch now, err = live.Definition(ctx, s.Live, name.Name); {
			case err == nil:
				weight = now.Size()
				kept, err = s.below.keep(now, c.Resource.Version)
				err = s.met(ctx, err)
			case live.IsAbsent(err):
				err = nil
			case errors.As(err, &beyond):
				err = fmt.Errorf("%w: %w", errUnusable, err)
			}
		})
		return kept, weight, cmp.Or(late, err)
	}
	if seen.UID == "" {
		kept, _, err := compile(ctx) // the cache is behind
		return kept, err
	}
	kept, err := s.kept.get(ctx, fmt.Sprintf("%s/%d/%s", seen.UID, seen.Generation, c.Resource.Version), compile)
	if err != nil {
		return nil, fmt.Errorf("reading what %s requires: %w", name.Name, err)
	}
	return kept, nil
}
