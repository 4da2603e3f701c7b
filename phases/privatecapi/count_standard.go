package privatecapi

import (
	"context"
	"hash/fnv"
	"strings"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// counting is how often the standard objects of a HostedCluster are counted that is at rest with private types.
const counting = 10 * time.Minute

// counted is what came of the last count: when the next one is due, and how many objects there were.
type counted struct {
	next    time.Time
	known   bool
	objects int
}

// CountStandard has the next count be made when it is due: nothing shows of itself what somebody puts there.
func (p *Pass) CountStandard(context.Context) (machine.Result, error) {
	return machine.Result{LookAgain: max(p.memory.of(p.Key, nil).standard.next.Sub(p.Now()), soon)}, nil
}

// countStandard is the standard side as the last count has found it. A process that begins spreads its counts, and what was found is
// counted again at once. What cannot be counted is not known until the next time.
func (p *Pass) countStandard(ctx context.Context) guards.Side {
	now, last := p.Now(), p.memory.of(p.Key, nil).standard
	switch {
	case last.next.IsZero():
		h := fnv.New64a()
		_, _ = h.Write([]byte(p.Key))
		last.next = now.Add(time.Duration(h.Sum64() % uint64(counting)))
	case now.Before(last.next) && last.objects == 0:
	default:
		n, err := p.standardIn(ctx, p.facts.Cluster.ControlPlane)
		p.tellFormer(ctx)
		last = counted{next: now.Add(counting), known: err == nil, objects: n}
	}
	p.memory.of(p.Key, func(r *remembered) { r.standard = last })
	return guards.Side{Known: last.known, Objects: last.objects}
}

// tellFormer tells of components whose proxy is not as it has to be: they may be answered all the same, as long as it asks for no token.
// At rest it is their operator that equips them.
func (p *Pass) tellFormer(ctx context.Context) {
	var former []string
	for _, component := range Components {
		o, err := p.API.Get(ctx, Deployments, p.facts.Cluster.ControlPlane, component.Name)
		if err != nil {
			continue // it is asked again, and nothing waits for it
		}
		if template := (workload{object: o}).template(); hasProxy(template) && !IsEquipped(template) {
			former = append(former, component.Name)
		}
	}
	if len(former) > 0 {
		p.tell("ProxyOutdated", "in namespace "+p.facts.Cluster.ControlPlane+" the proxy beside "+strings.Join(former, ", ")+
			" is not as this release makes it: have the control-plane operator equip it anew, as deploy/privatecapi/sidecar.yaml has it")
	}
}

// standardIn counts the standard objects in a namespace.
func (p *Phases) standardIn(ctx context.Context, namespace string) (n int, err error) {
	kinds, err := p.API.Kinds(ctx)
	if err != nil {
		return 0, err
	}
	for _, k := range kinds {
		if SideOf(k.Group) != Standard || !k.Namespaced {
			continue
		}
		found, err := p.API.List(ctx, k, namespace, "")
		if err != nil {
			return 0, err
		}
		n += len(found)
	}
	return n, nil
}
