package compatibility

import (
	"context"
	"errors"
	"fmt"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
	"github.com/capstan-capi/capstan/phases/crdschema/live"
)

const (
	// maxProblem bounds the text of why data cannot be used, maxLines that of what is missing or differs, in bytes.
	maxProblem = 2 << 10
	maxLines   = 64
)

// CRDMetadata is a definition of which no more than its metadata is read.
func CRDMetadata() *metav1.PartialObjectMetadata {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return meta
}

// version is one generation of one object.
type version struct {
	uid        types.UID
	generation int64
}

func versionOf(o client.Object) version { return version{o.GetUID(), o.GetGeneration()} }

// judgement is what came of reading a requirement and its definition.
type judgement struct {
	of version
	// problem is why the data cannot be used, target what it asks for otherwise.
	problem string
	target  target
	// compared is the live definition that the verdict is on, the zero one for none.
	compared version
	verdict  crdschema.Verdict
	// beyond is why that one is not judged, however often it is read.
	beyond error
}

// target is the kind of objects that a requirement is about.
type target struct {
	crd, group, plural string
	namespaced         bool
	versions           []string
}

// judge says whether a requirement can be used and whether its definition has what is needed. It reads what it has not
// read yet; an error is why it could not.
func (p *Phases) judge(ctx context.Context, key machine.Key, r *requirementsv1alpha1.CompatibilityRequirement) (guards.Spec, guards.CRD, target, error) {
	known := p.judged.of(key, versionOf(r))
	if known == nil || known.problem == "" {
		fresh, err := p.renewed(ctx, key, r, known)
		if err != nil && known == nil {
			return guards.Spec{Unread: err.Error()}, guards.CRD{Unread: err.Error()}, target{}, err
		}
		if err != nil {
			return guards.Spec{Known: true}, guards.CRD{Name: known.target.crd, Unread: err.Error()}, known.target, err
		}
		known = fresh
	}
	if renamed := r.Status.CRDName; known.problem == "" && renamed != "" && renamed != known.target.crd {
		known = &judgement{problem: fmt.Sprintf(
			"spec.compatibilitySchema.customResourceDefinition.data: it defines %s, and the requirement is about %s for good; make another requirement for another CRD", known.target.crd, renamed)}
	}
	if known.problem != "" {
		return guards.Spec{Known: true, Problem: known.problem}, guards.CRD{Name: r.Status.CRDName, Unread: "the spec cannot be used"}, target{}, nil
	}
	if known.beyond != nil {
		return guards.Spec{Known: true}, guards.CRD{Name: known.target.crd, Unread: known.beyond.Error()}, known.target, known.beyond
	}
	crd := guards.CRD{Name: known.target.crd, Seen: true, Absent: known.compared == version{}}
	if !crd.Absent {
		crd.UID, crd.Generation = string(known.compared.uid), known.compared.generation
		crd.Missing, crd.Warnings = known.verdict.Missing, known.verdict.Warnings
	}
	return guards.Spec{Known: true}, crd, known.target, nil
}

// renewed is the judgement on the live definition as it is now, from what is known, which may be nothing.
func (p *Phases) renewed(ctx context.Context, key machine.Key, r *requirementsv1alpha1.CompatibilityRequirement, known *judgement) (*judgement, error) {
	if known == nil {
		return p.read(ctx, key, r, true)
	}
	now, err := p.metadata(ctx, known.target.crd)
	switch {
	case err != nil:
		return nil, err
	case now == known.compared:
		return known, nil
	case now == version{}:
		return p.gone(ctx, key, known)
	}
	return p.read(ctx, key, r, false)
}

// metadata is the version of a live definition as the cache has it, the zero one if there is none.
func (p *Phases) metadata(ctx context.Context, name string) (version, error) {
	meta := CRDMetadata()
	err := p.Client.Get(ctx, client.ObjectKey{Name: name}, meta)
	switch {
	case apierrors.IsNotFound(err):
		return version{}, nil
	case err != nil:
		return version{}, fmt.Errorf("reading CRD %s: %w", name, err)
	}
	return versionOf(meta), nil
}

// gone asks the API server about a definition that the cache does not show: it may be too new for that.
func (p *Phases) gone(ctx context.Context, key machine.Key, known *judgement) (*judgement, error) {
	err := p.Live.Get(ctx, client.ObjectKey{Name: known.target.crd}, CRDMetadata())
	switch {
	case err == nil:
		return known, nil
	case !live.IsAbsent(err):
		return nil, fmt.Errorf("reading CRD %s: %w", known.target.crd, err)
	}
	gone := *known
	gone.compared, gone.verdict, gone.beyond = version{}, crdschema.Verdict{}, nil
	p.judged.keep(key, &gone)
	return &gone, nil
}

// read decodes a requirement and compares its definition, both as the API server has them now. Of a new one it compiles the rules.
func (p *Phases) read(ctx context.Context, key machine.Key, r *requirementsv1alpha1.CompatibilityRequirement, isNew bool) (*judgement, error) {
	p.judged.reading.Lock()
	defer p.judged.reading.Unlock()
	need, unread, err := p.decoded(ctx, r, isNew)
	if unread != nil {
		return nil, unread
	}
	j := &judgement{of: versionOf(r)}
	if err != nil {
		j.problem = machine.Shorten(err.Error(), maxProblem)
		p.judged.keep(key, j)
		return j, nil
	}
	j.target = target{crd: need.Name(), group: need.Group(), plural: need.Plural(), namespaced: need.Namespaced(), versions: need.Versions()}
	found, err := live.Definition(ctx, p.Live, need.Name())
	var beyond *live.BeyondError
	switch {
	case err == nil:
		j.compared, j.verdict = versionOf(found), bounded(need.Compare(found))
	case errors.As(err, &beyond):
		j.compared, j.beyond = version{beyond.UID, beyond.Generation}, err
	case !live.IsAbsent(err):
		return nil, err
	}
	p.judged.keep(key, j)
	return j, nil
}

// decoded is what a requirement needs, or why its data cannot be used; unread is why it could not be read.
func (p *Phases) decoded(ctx context.Context, r *requirementsv1alpha1.CompatibilityRequirement, isNew bool) (need *crdschema.Need, unread, err error) {
	if last := p.judged.last; last != nil && last.of == versionOf(r) && !isNew {
		return last.need, nil, nil
	}
	whole := &requirementsv1alpha1.CompatibilityRequirement{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(r), whole); err != nil {
		return nil, fmt.Errorf("reading CompatibilityRequirement %s: %w", r.Name, err), nil
	}
	if versionOf(whole) != versionOf(r) {
		return nil, fmt.Errorf("CompatibilityRequirement %s has just changed, and is looked at again", r.Name), nil
	}
	p.judged.last = nil
	if need, err = usable(&whole.Spec, isNew); err == nil && len(whole.Spec.CompatibilitySchema.CustomResourceDefinition.Data) <= keptNeed {
		p.judged.last = &lastNeed{versionOf(r), need}
	}
	return need, nil, err
}

// usable decodes a specification that webhooks can go by. Rules are compiled only where objects are asked them.
func usable(spec *requirementsv1alpha1.CompatibilityRequirementSpec, isNew bool) (*crdschema.Need, error) {
	need, err := crdschema.Decode(spec)
	if err != nil || !isNew || spec.ObjectSchemaValidation.Action == "" {
		return need, err
	}
	for _, version := range need.Versions() {
		if err := judge.CompileRules(need, version); err != nil {
			return nil, fmt.Errorf("spec.compatibilitySchema.customResourceDefinition.data: %w", err)
		}
	}
	return need, nil
}

// bounded keeps as many lines as people are told of, and how many more there are.
func bounded(v crdschema.Verdict) crdschema.Verdict {
	return crdschema.Verdict{Missing: crdschema.Few(v.Missing, maxLines), Warnings: crdschema.Few(v.Warnings, maxLines)}
}

// of is what is known of a version of a requirement, nil for nothing.
func (j *judged) of(key machine.Key, v version) *judgement {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known := j.by[key]; known != nil && known.of == v {
		return known
	}
	return nil
}

func (j *judged) keep(key machine.Key, one *judgement) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.by == nil {
		j.by = map[machine.Key]*judgement{}
	}
	j.by[key] = one
}

// Forget lets go of what is remembered of a requirement that is gone.
func (p *Phases) Forget(key machine.Key) {
	p.judged.mu.Lock()
	defer p.judged.mu.Unlock()
	delete(p.judged.by, key)
	for _, kind := range writesConfigurations {
		p.fights.forget((&configuration{kind: kind, name: string(key)}).String())
	}
}
