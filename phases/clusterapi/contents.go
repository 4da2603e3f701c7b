package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// askAgainForExceptions is how soon exceptions are asked for again, in a pass that is made anyway, while the inputs need
// some that there are not.
const askAgainForExceptions = 30 * time.Second

// rendered remembers the last rendering: the same inputs are never parsed twice.
type rendered struct {
	// inputs are the fingerprint of the inputs, and the images that were looked into anew.
	inputs     string
	revision   *render.Revision // without its objects
	components []engine.Component
	err        error
	refused    time.Time // when something was found that images may not contain; zero if nothing was
	// exceptions are what ConfigMap ExceptionsConfigMap said, and excepted that the inputs need it.
	exceptions map[string]string
	excepted   bool
}

// askedAgain says that exceptions are to be asked for again.
func (r rendered) askedAgain(now func() time.Time) bool {
	return !r.refused.IsZero() && now().Sub(r.refused).Abs() >= askAgainForExceptions
}

// render renders the inputs, within what images may contain. Exceptions are hardly ever needed: they are asked for when
// something breaks a rule, and cost no watch. Inputs that were refused are rendered again only if the exceptions differ.
func (p *Phases) render(ctx context.Context, w world, inputs string, profiles []render.Profile) rendered {
	r := p.memory.rendered
	again := r.inputs == inputs && !r.refused.IsZero()
	if !again {
		r = p.renderWithin(p.Contents, w, profiles)
		r.inputs = inputs
		if !breaksPolicy(r.err) {
			return r
		}
	}
	data, err := p.readExceptions(ctx)
	if err != nil {
		return rendered{err: err}
	}
	if again && maps.Equal(data, r.exceptions) {
		r.refused = p.Now()
		return r
	}
	exceptions, wrong := policy.ParseExceptions(data)
	if again || len(exceptions) > 0 {
		within := *p.Contents
		within.Exceptions = exceptions
		r = p.renderWithin(&within, w, profiles)
		r.inputs = inputs
	}
	r.exceptions, r.excepted = data, true
	switch {
	case wrong != nil:
		r.err = machine.Terminal(fmt.Errorf("ConfigMap %s: %w; repair it, or what it is for: %w", p.exceptionsKey(), wrong, r.err))
	case breaksPolicy(r.err):
		r.err = p.withWayOut(r.err)
	default:
		return r
	}
	r.refused = p.Now()
	return r
}

// withWayOut says first where exceptions are made, because what tells of errors may cut them off at their end.
func (p *Phases) withWayOut(err error) error {
	breaches := breachesIn(err)
	count := "a breach"
	if len(breaches) > 1 {
		count = fmt.Sprintf("%d breaches", len(breaches))
	}
	return fmt.Errorf("%s of the rules for images (exceptions: ConfigMap %s; all that is wrong: capstan lint %s): %w",
		count, p.exceptionsKey(), breaches[0].Image, err)
}

func (p *Phases) exceptionsKey() client.ObjectKey {
	return client.ObjectKey{Namespace: p.OperatorNamespace, Name: ExceptionsConfigMap}
}

// readExceptions asks the API server for the exceptions; there are none without the ConfigMap.
func (p *Phases) readExceptions(ctx context.Context) (map[string]string, error) {
	list := &corev1.ConfigMap{}
	if _, err := read(ctx, p.Live, p.exceptionsKey(), list); err != nil {
		return nil, fmt.Errorf("looking for exceptions in ConfigMap %s: %w", p.exceptionsKey(), err)
	}
	return list.Data, nil
}

// forgetWithdrawn forgets a rendering that was let through by exceptions which are not there any more as they were, and says
// so. A revision may wait long to be listed, for consent or for room.
func (p *Phases) forgetWithdrawn(ctx context.Context) (bool, error) {
	if !p.memory.rendered.excepted {
		return false, nil
	}
	data, err := p.readExceptions(ctx)
	if err != nil || maps.Equal(data, p.memory.rendered.exceptions) {
		return false, err
	}
	p.memory.rendered = rendered{}
	return true, nil
}

func breaksPolicy(err error) bool { return len(breachesIn(err)) > 0 }

// breachesIn are the problems that are breaches of rules.
func breachesIn(err error) render.ProblemsError {
	problems, _ := errors.AsType[render.ProblemsError](err)
	return slices.DeleteFunc(slices.Clone(problems), func(p render.Problem) bool { return p.Rule == "" })
}

func (p *Phases) renderWithin(contents *policy.Policy, w world, profiles []render.Profile) rendered {
	var r rendered
	if r.err = boundValues(w.substitutions); r.err != nil {
		return r
	}
	var components packing
	r.revision, r.err = render.Render(render.Input{
		Profiles: profiles, Platform: w.platform, Substitutions: w.substitutions, Unmanaged: w.unmanaged(), Namespace: p.CAPINamespace, FaultOf: engine.FaultOf,
		Policy: contents, Take: components.take,
	})
	if r.revision == nil {
		return r
	}
	r.components = components
	if faults := engine.Faults(r.components, r.revision.Unmanaged); len(faults) > 0 {
		r.revision, r.err = nil, machine.Terminal(fmt.Errorf(
			"the provider images have objects that cannot be applied: %s; repair them in the images", strings.Join(faults, "; ")))
	}
	return r
}

// packing is what a rendering's objects become: they are kept compressed, and only by the engine's components.
type packing []engine.Component

// take packs the objects of one component, so that no more than those are in memory as they are. What the revision
// derives comes last: to components that are there already, and before all of them.
func (p *packing) take(at int, component string, objects []*unstructured.Unstructured) {
	switch {
	case at < 0:
		*p = slices.Insert(*p, 0, engine.Component{Name: component, Objects: objects}.Packed())
	case at < len(*p):
		(*p)[at].Objects = objects
		(*p)[at] = (*p)[at].Packed()
	default:
		*p = append(*p, engine.Component{Name: component, Objects: objects}.Packed())
	}
}
