package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine"
)

// reviewsAtOnce is how many rights are asked for at a time.
const reviewsAtOnce = 8

// verbsFor are what an outlook takes, in the order in which it is asked for.
var verbsFor = map[engine.Outlook][]string{
	engine.WouldCreate: {"create", "patch"}, engine.WouldChange: {"patch"}, engine.WouldMark: {"patch"}, engine.WouldReplace: {"create", "delete", "patch"},
	engine.WouldRemove: {"delete"},
}

// addRights tells which rights the operator lacks for what was not tried as itself.
func (p *Plan) addRights(ctx context.Context, access *Access, f *engine.Forecast) {
	var asked []engine.Request
	need := func(o *engine.Foreseen) {
		if o.Resource.Resource == "" || access.As.Operator && o.How == engine.Tried {
			return
		}
		for _, verb := range verbsFor[o.Outlook] {
			r := engine.Request{Verb: verb, Resource: schema.GroupResource{Group: o.Key.Group, Resource: o.Resource.Resource}, Namespace: o.Key.Namespace}
			if !slices.Contains(asked, r) {
				asked = append(asked, r)
			}
		}
	}
	for _, w := range f.Waves {
		for _, o := range w.Objects {
			need(o)
		}
	}
	for _, o := range f.Removals {
		need(o)
	}
	lacks, err := access.lacking(ctx, asked)
	if err != nil {
		p.Limits = append(p.Limits, fmt.Sprintf("which rights the operator lacks is not known: %v", err))
	}
	for _, r := range lacks {
		where := "anywhere"
		if r.Namespace != "" {
			where = "in namespace " + r.Namespace
		}
		p.Stops = append(p.Stops, Stop{
			What: "rights", Why: fmt.Sprintf("the operator (%s) may not %s %s %s", access.account.User(), r.Verb, r.Resource, where), Next: "give it that permission",
		})
	}
}

// lacking are those of the rights that the operator does not have.
func (a *Access) lacking(ctx context.Context, asked []engine.Request) (lacks []engine.Request, err error) {
	if len(asked) == 0 {
		return nil, nil
	}
	if _, err := a.operatorMay(ctx, asked[0]); err != nil {
		return nil, err
	}
	slots, found := make(chan struct{}, reviewsAtOnce), make([]bool, len(asked))
	var all sync.WaitGroup
	for i, r := range asked {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			may, err := a.operatorMay(ctx, r)
			found[i] = err == nil && !may
		})
	}
	all.Wait()
	for i, r := range asked {
		if found[i] {
			lacks = append(lacks, r)
		}
	}
	slices.SortFunc(lacks, func(a, b engine.Request) int {
		return cmp.Or(strings.Compare(a.Resource.String(), b.Resource.String()), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Verb, b.Verb))
	})
	return lacks, nil
}
