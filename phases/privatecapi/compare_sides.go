package privatecapi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// CompareSides has the sides looked at again until they are equal: looking is all there is to it.
func (p *Pass) CompareSides(ctx context.Context) (machine.Result, error) { return p.lookOn(ctx) }

// compare compares the sides in the text of the source, and where components will read the target by the proxy, what they see
// there too.
func (p *Pass) compare(ctx context.Context) (guards.Tally, error) {
	t := guards.Tally{Known: true}
	for _, c := range p.sides.couples {
		switch {
		case c.source == nil:
			count(&t, false, c.name()+" has no counterpart at the source")
		case c.target == nil:
			count(&t, false, c.name()+" has no copy")
		case c.isDying():
			count(&t, false, c.dyingText())
		default:
			parts := differing(p.sides.essenceOfSource(c), p.sides.essenceOfTarget(c))
			count(&t, len(parts) == 0, fmt.Sprintf("%s differs in %v", c.name(), parts))
		}
	}
	if p.sides.source != Standard {
		return t, nil
	}
	return t, p.compareProbed(ctx, &t)
}

// compareProbed reads the target as a component does.
func (p *Pass) compareProbed(ctx context.Context, t *guards.Tally) error {
	seen := map[string][]*unstructured.Unstructured{}
	for _, c := range p.sides.couples {
		kind := c.kinds.source
		list, known := seen[kind.name()]
		if !known {
			var err error
			if list, err = p.API.Probe(ctx, p.account(), kind, p.facts.Cluster.ControlPlane); err != nil {
				return fmt.Errorf("reading %s as %s does: %w", kind.name(), p.account(), err)
			}
			seen[kind.name()] = list
		}
		if c.source == nil {
			continue
		}
		found := false
		for _, o := range list {
			if o.GetName() == c.source.GetName() {
				found = same(p.sides.essenceOfSource(c), essence(o, unchanged, p.sides.uncopied))
			}
		}
		count(t, found, c.name()+" reads otherwise through the proxy")
	}
	return nil
}
