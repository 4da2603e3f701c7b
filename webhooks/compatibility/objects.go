package compatibility

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

// errUnusable says that a requirement cannot be judged, however often it is tried.
var errUnusable = errors.New("cannot be judged")

// smallPaths is how many bytes the paths of objects may have that are judged beside all others, and not in a turn.
const smallPaths = 1 << 20

// objects says whether whoever has the requirement could read an object.
func (s *Server) objects(ctx context.Context, c call) admission.Response {
	t, err := s.trial(ctx, c)
	if t == nil || err != nil {
		return t.unless(err, c)
	}
	return s.tried(ctx, c, t, func() admission.Response {
		problems := s.below.validate(t.judge, ctx, t.now, t.before, c.SubResource)
		if !t.warns {
			if len(problems) == 0 {
				return admission.Allowed("")
			}
			return t.refuse(c, problems)
		}
		texts := make([]string, 0, len(problems))
		for _, problem := range problems {
			texts = append(texts, problem.Error())
		}
		for _, path := range t.judge.Prune(t.now.DeepCopy().Object, t.old(), nil, c.SubResource) {
			texts = append(texts, unknownField(path)+" is kept")
		}
		return admission.Allowed("").WithWarnings(lines(t.requirement, texts)...)
	})
}

func unknownField(path string) string { return fmt.Sprintf("unknown field %q", path) }

// trial is an object before its judge.
type trial struct {
	requirement *requirement
	warns       bool
	judge       *judge.Judge // of the object's version
	now, before *unstructured.Unstructured
}

// trial is nil if there is nothing to judge. With an error the requirement is there, and says what it does. What is being
// deleted says the stored object: whoever creates one may write anything there.
func (s *Server) trial(ctx context.Context, c call) (*trial, error) {
	if missing(c.Object.Raw) || c.SubResource != "" && c.SubResource != judge.Status {
		return nil, nil
	}
	if c.Operation == admissionv1.Update {
		if stored, err := headOf(c.OldObject.Raw); err != nil {
			return &trial{}, errors.New("the stored object cannot be decoded")
		} else if stored != nil && stored.goes {
			return nil, nil
		}
	}
	r, err := s.find(ctx, c.about)
	if err != nil {
		return &trial{}, err
	}
	if r == nil {
		return nil, nil
	}
	action := s.actions(ctx, r).Objects
	if action == "" {
		return nil, nil
	}
	t := &trial{requirement: r, warns: c.warns || action != requirementsv1alpha1.CRDAdmitActionDeny || isOpen(r)}
	t.judge, err = s.judge(ctx, r, c.Resource.Version)
	if t.judge == nil && err == nil {
		return nil, nil
	}
	return t, err
}

// tried reads the objects of a trial and does what is to be done with them: at once if they are small, and else in a turn.
func (s *Server) tried(ctx context.Context, c call, t *trial, do func() admission.Response) (response admission.Response) {
	defer func() {
		if what := recover(); what != nil {
			s.panicked(ctx, what)
			response = t.unless(errPanic, c)
		}
	}()
	paths := 0
	for _, raw := range [][]byte{c.Object.Raw, c.OldObject.Raw} {
		size, err := crdschema.SizeOf(raw)
		if err != nil {
			return t.unless(fmt.Errorf("%w: the object: %w", errUnusable, err), c)
		}
		paths += size.Paths
	}
	all := func() {
		var err error
		if t.now, t.before, err = unstructuredObjects(c); err != nil {
			response = t.unless(err, c)
			return
		}
		response = do()
	}
	if paths <= smallPaths && len(c.Object.Raw)+len(c.OldObject.Raw) <= smallBody {
		all()
	} else if late := s.inTurn(ctx, all); late != nil {
		return t.unless(late, c)
	}
	return response
}

// unstructuredObjects are what is written and what is stored, nil if there is none.
func unstructuredObjects(c call) (now, before *unstructured.Unstructured, err error) {
	if now, err = decodeUnstructured(c.Object.Raw); err != nil {
		return nil, nil, errors.New("the object cannot be decoded")
	}
	if c.Operation != admissionv1.Update {
		return now, nil, nil
	}
	if before, err = decodeUnstructured(c.OldObject.Raw); err != nil {
		return nil, nil, errors.New("the stored object cannot be decoded")
	}
	return now, before, nil
}

// judge is the judge of a version, nil if the requirement does not select it.
func (s *Server) judge(ctx context.Context, r *requirement, version string) (*judge.Judge, error) {
	found, err := s.need(ctx, r)
	if err != nil {
		return nil, err
	}
	if found.err != nil {
		return nil, fmt.Errorf("%w: %w", errUnusable, found.err)
	}
	if !slices.Contains(found.need.Versions(), version) {
		return nil, nil //nolint:nilnil // nothing is said of other versions
	}
	return s.judges.get(ctx, identity(r)+"/"+version, func(ctx context.Context) (*judge.Judge, int, error) {
		var made *judge.Judge
		var err error
		if late := s.inTurn(ctx, func() { made, err = s.below.compile(found.need, version) }); late != nil {
			return nil, 0, late
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %w", errUnusable, s.met(ctx, err))
		}
		return made, found.weight + found.need.Rules(version)*ruleWeight + found.need.Regexps(version)*regexpWeight, nil
	})
}

func (t *trial) old() map[string]any {
	if t.before == nil {
		return nil
	}
	return t.before.Object
}

// unless answers for what is not judged: there is nothing to judge, or it cannot be.
func (t *trial) unless(err error, c call) admission.Response {
	switch {
	case err == nil:
		return admission.Allowed("")
	case t.requirement == nil:
		return admission.Errored(http.StatusInternalServerError, err)
	case t.warns:
		return admission.Allowed("").WithWarnings(line(t.requirement, cut(err.Error())))
	case errors.Is(err, errPanic):
		return admission.Errored(http.StatusInternalServerError, errors.New(line(t.requirement, "cannot be judged: "+errPanic.Error())))
	case errors.Is(err, errUnusable):
		return t.refuse(c, field.ErrorList{field.InternalError(nil, err)})
	}
	return admission.Errored(http.StatusInternalServerError, errors.New(line(t.requirement, cut("cannot be judged now: "+err.Error()))))
}

// refuse names the fields that whoever has the requirement could not read.
func (t *trial) refuse(c call, problems field.ErrorList) admission.Response {
	kind := schema.GroupKind{Group: c.Kind.Group, Kind: c.Kind.Kind}
	return invalid(apierrors.NewInvalid(kind, c.Name, problems), line(t.requirement, ""))
}
