package act

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Compare foresees what would come of a revision after another one by their manifests alone, where nothing else is there.
func Compare(from, to *decide.Revision) (*report.Forecast, error) {
	before, after := planOf(from, decide.Identity{}), planOf(to, decide.Identity{})
	for _, p := range []*plan{before, after} {
		if p.err != nil {
			return nil, p.err
		}
	}
	told := &report.Forecast{}
	for _, w := range after.waves {
		wave := report.ForeseenWave{Number: w.number, Component: w.component, Class: w.class.String()}
		for _, t := range w.targets {
			wave.Objects = append(wave.Objects, compared(before.keys[t.Key.Identity()], t, after))
		}
		told.Waves = append(told.Waves, wave)
	}
	var left []inventory.Candidate
	for _, t := range before.targets {
		if after.keys[t.Key.Identity()] == nil {
			left = append(left, inventory.Candidate{Candidate: decide.Candidate{Key: t.Key, Component: t.Component, LastWave: before.lastWave(t.Component)}})
		}
	}
	slices.SortFunc(left, func(a, b inventory.Candidate) int { return a.Before(b.Candidate) })
	for _, c := range left {
		o := &report.Foreseen{
			Key: c.Key, Component: c.Component, Resource: servedAs(c.Key, before), Outlook: report.WouldRemove, How: report.Computed,
			Before: before.keys[c.Key.Identity()].plain(),
		}
		if slices.Contains(to.Unmanaged, c.Key.Name) && c.Key.IsCRD() {
			o.Outlook, o.Why = report.WouldMark, "is left to administrators from now on, without our marks"
		}
		told.Removals = append(told.Removals, o)
	}
	return told, nil
}

// plain is the manifest of a target, without what it is stamped with; nil for none.
func (t *target) plain() *unstructured.Unstructured {
	if t == nil {
		return nil
	}
	return decide.Told(t.Desired(t.Stamp).Payload)
}

// lastWave is the number of the wave with which a component is complete.
func (p *plan) lastWave(component string) int {
	last := 0
	for _, w := range p.waves {
		if w.component == component {
			last = w.number
		}
	}
	return last
}

// servedAs is how a kind is served, as far as that is known without a cluster.
func servedAs(key decide.Key, p *plan) schema.GroupVersionResource {
	if r, always := see.Builtin[key.GVK()]; always {
		return r.GVR
	}
	if plural, known := p.resourceNamed(key.GVK().GroupKind()); known {
		return key.GVK().GroupVersion().WithResource(plural)
	}
	return schema.GroupVersionResource{}
}

func compared(was, is *target, in *plan) *report.Foreseen {
	o := &report.Foreseen{
		Key: is.Key, Component: is.Component, Resource: servedAs(is.Key, in), How: report.Computed, Before: was.plain(), After: is.plain(),
	}
	if was == nil {
		o.Outlook = report.WouldCreate
		return o
	}
	o.Changes = decide.Changes(o.Before, o.After, decide.Identity{})
	switch {
	case len(o.Changes) == 0:
		o.Outlook = report.WouldMark
		return o
	case is.Key.IsCRD():
		if loss := decide.SchemaLossOf(o.Before, o.After); !loss.None() {
			o.Outlook, o.Why = report.WouldRefuse, "it takes away what instances may use: "+loss.String()
			return o
		}
	}
	o.Outlook = report.WouldChange
	return o
}
