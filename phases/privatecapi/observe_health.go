package privatecapi

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// ObserveHealth has the target looked at again: looking is all there is to it.
func (p *Pass) ObserveHealth(ctx context.Context) (machine.Result, error) { return p.lookOn(ctx) }

// lookOn has everything looked at again.
func (p *Pass) lookOn(ctx context.Context) (machine.Result, error) {
	result, err := p.send(ctx, "")
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon
	}
	return result, err
}

// telling are the conditions whose loss says that an object is worse off.
var telling = []string{"Ready", "Available", "InfrastructureReady", "BootstrapReady", "BootstrapConfigReady", "ControlPlaneAvailable", "ControlPlaneReady", "NodeHealthy", "NodeReady"}

// health says whether the components run, and whether any object is worse off at the target than it was at the source.
func (p *Pass) health() guards.Tally {
	t := guards.Tally{Known: true}
	for _, w := range p.workloads {
		if !w.of.Waits {
			count(&t, w.isAvailable(), nameOf(w.object)+" is not available")
		}
	}
	count(&t, p.sourceChanged() == nil, "the source is not what it was when it was counted")
	for _, c := range p.sides.couples {
		switch {
		case c.source == nil:
		case c.isDying():
			count(&t, false, c.dyingText())
		case c.target != nil:
			lost := worse(c.source, c.target)
			count(&t, lost == "", c.name()+" is worse off than before: "+lost)
		case isCluster(c.kinds.source) || isInfrastructureCluster(c.kinds.source) || !c.wasCopied():
			count(&t, false, c.name()+" is not at the target")
		}
	}
	return t
}

// worse names what an object lost on the way, empty for nothing. What nobody can tell any more is lost.
func worse(source, target *unstructured.Unstructured) string {
	before, after := conditions(source), conditions(target)
	for _, name := range telling {
		if now, said := after[name]; before[name] == "True" && now != "True" {
			if !said {
				now = "not told"
			}
			return "condition " + name + " is " + now
		}
	}
	was, _, _ := unstructured.NestedString(source.Object, "status", "phase")
	is, _, _ := unstructured.NestedString(target.Object, "status", "phase")
	if is == "Failed" && was != "Failed" {
		return "phase Failed"
	}
	return ""
}

func conditions(o *unstructured.Unstructured) map[string]string {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	by := map[string]string{}
	for _, item := range list {
		one, _ := item.(map[string]any)
		name, _ := one["type"].(string)
		if slices.Contains(telling, name) {
			by[name], _ = one["status"].(string)
		}
	}
	return by
}
