package privatecapi

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// RestoreWorkloads gives the components back what they had, what scales the others last, and then the source its pause.
func (p *Pass) RestoreWorkloads(ctx context.Context) (machine.Result, error) {
	if fence := p.fenceAgain(guards.BothSidesAreShut); fence != nil {
		return p.send(ctx, "putting the fence back", fence)
	}
	plan, err := p.inOrder(func(w workload) *Write { return w.restore(p.Equipment, p.sides.source) })
	if err != nil && !p.lacksLock() { // that is put back whatever else stands still
		return machine.Result{}, err
	}
	return p.send(ctx, "restoring", append(plan, p.sides.unmarkAll(false)...)...)
}

// inOrder are the writes of each component, what scales the others last. There are none while one of them would get a proxy without
// an image: the others would run beside one that stands still. The standard side needs no image.
func (p *Pass) inOrder(each func(workload) *Write) ([]*Write, error) {
	var plan, last []*Write
	for _, w := range p.workloads {
		if w.of.Scales {
			last = append(last, each(w))
		} else {
			plan = append(plan, each(w))
		}
	}
	plan = append(plan, last...)
	if slices.ContainsFunc(plan, lacksImage) {
		return nil, errNoImage()
	}
	return plan, nil
}

// lacksImage says that a write would give a component a proxy without an image.
func lacksImage(w *Write) bool {
	if w == nil {
		return false
	}
	spec, _, _ := unstructured.NestedMap(w.Body, "spec", "template", "spec")
	proxy := itemOf(spec, "initContainers", sidecarName)
	return proxy != nil && (proxy["image"] == nil || proxy["image"] == "")
}
