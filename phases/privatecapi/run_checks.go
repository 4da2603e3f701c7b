package privatecapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
)

// RunChecks asks whether anything speaks against the move. What does is told, and puts the HostedCluster behind the others.
func (p *Pass) RunChecks(ctx context.Context) (machine.Result, error) {
	refused, err := p.check(ctx)
	if isAway(err) {
		p.outage(p.Key, p.record.Since, err, nil)
		return machine.Result{LookAgain: soon}, nil
	}
	if err != nil {
		return machine.Result{}, fmt.Errorf("checking: %w", err)
	}
	p.memory.of(p.Key, func(r *remembered) {
		r.checks, r.checkedFor = guards.Checks{Known: true, Refused: refused}, p.record.Since
		if len(refused) > 0 {
			r.refused = p.Now()
		}
	})
	if len(refused) > 0 {
		p.tell("MigrationRefused", strings.Join(refused, "; "))
	}
	return machine.Result{LookAgain: soon}, nil
}

func (p *Pass) check(ctx context.Context) ([]string, error) {
	refused := slices.Concat(p.checkObjects(), p.checkImage())
	downgrade, err := p.checkRelease(ctx)
	if err != nil {
		return nil, err
	}
	served, err := p.checkServed(ctx)
	if err != nil {
		return nil, err
	}
	rights, err := p.checkRights(ctx)
	return slices.Concat(refused, downgrade, served, p.checkDependents(ctx), rights), err
}

// checkImage asks whether it is certain which image components would get beside them. A move that is under way takes any, since
// components stand still until they have one.
func (p *Pass) checkImage() []string {
	if p.sides.source != Standard {
		return nil
	}
	if p.Equipment.Image == "" {
		return []string{"no image with the proxy is known"}
	}
	if _, err := images.ParseRef(p.Equipment.Image); err != nil {
		return []string{"the image with the proxy is not certain: " + err.Error()}
	}
	return nil
}

// checkRelease asks whether a later release has moved HostedClusters. The Lease tells, as long as nobody deletes it.
func (p *Pass) checkRelease(ctx context.Context) ([]string, error) {
	lease, err := p.API.Get(ctx, Leases, p.Namespace, guards.ProgrammeName)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Lease %s/%s: %w", p.Namespace, guards.ProgrammeName, err)
	}
	had := lease.GetAnnotations()[ReleaseAnnotation]
	if !isLater(had, p.Release) {
		return nil, nil
	}
	if refusal := p.facts.Programme.Downgrade(p.Release, had); refusal != "" {
		return []string{refusal}, nil
	}
	return nil, nil
}

// isLater says that a release is later than another; what cannot be read is not.
func isLater(release, than string) bool {
	one, err := version.ParseSemantic(release)
	if err != nil {
		return false
	}
	other, err := version.ParseSemantic(than)
	return err == nil && other.LessThan(one)
}

// checkDependents asks whether all that belongs to the objects can be taken in: under way it would be too late to find out. An API of
// others that does not answer speaks against the move, too, and is told: it may be away for good.
func (p *Pass) checkDependents(ctx context.Context) []string {
	if _, err := p.API.Dependents(ctx, p.facts.Cluster.ControlPlane, Needed{All: true}); err != nil {
		return []string{"what belongs to the objects in namespace " + p.facts.Cluster.ControlPlane + " cannot be taken in: " + err.Error()}
	}
	return nil
}

// checkObjects are what speaks against a move of the objects that there are.
func (p *Pass) checkObjects() []string {
	var refused []string
	if other := p.facts.Cluster.SharedWith; other != "" {
		refused = append(refused, "namespace "+p.facts.Cluster.ControlPlane+" is that of the control plane of "+other+" too")
	}
	for _, o := range p.sides.alone {
		refused = append(refused, nameOf(o)+": the other side has no CRD of it, or no version that both serve")
	}
	for _, c := range p.sides.couples {
		switch {
		case c.target != nil:
			refused = append(refused, nameOf(c.target)+" is at the target already")
		case c.source.GetDeletionTimestamp() != nil:
			refused = append(refused, c.name()+" is terminating")
		case len(marksOn(c.source)) > 0:
			refused = append(refused, marked(c.source, marksOn(c.source)))
		}
	}
	for _, w := range p.workloads {
		if some := w.marks(); len(some) > 0 {
			refused = append(refused, marked(w.object, some))
		}
		if w.isInHostNetwork() {
			refused = append(refused, nameOf(w.object)+" is in the network of its host, where the proxy is not put")
		}
	}
	const most = 5
	if len(refused) > most {
		refused = append(refused[:most], fmt.Sprintf("and %d more", len(refused)-most))
	}
	return refused
}

// marked is what speaks against an object that has marks of a move before there is one: undoing would trust them.
func marked(o *unstructured.Unstructured, some []string) string {
	return nameOf(o) + " has annotation " + strings.Join(some, " and ") + ", which is there for moves only, before it moves: take it off"
}

// checkRights asks for what the machine has to do to each kind, and for what the components have to do at the target.
func (p *Pass) checkRights(ctx context.Context) ([]string, error) {
	var refused []string
	ask := func(account, verb string, kind Kind, namespace string) error {
		may, err := p.API.May(ctx, account, verb, kind, namespace)
		if err == nil && !may {
			who := account
			if who == "" {
				who = "the operator"
			}
			refused = append(refused, fmt.Sprintf("%s may not %s %s", who, verb, kind.name()))
		}
		return err
	}
	namespace := p.facts.Cluster.ControlPlane
	for _, c := range p.sides.oneOfEach() {
		for _, kind := range []Kind{c.kinds.source, c.kinds.target} {
			for _, verb := range []string{"create", "update", "patch", "delete"} {
				if err := ask("", verb, kind, namespace); err != nil {
					return nil, err
				}
			}
			// The fence is tried by creations: without the right they would be denied by another.
			if err := ask(p.account(), "create", kind, namespace); err != nil {
				return nil, err
			}
		}
		if err := ask(p.account(), "list", c.kinds.target, namespace); err != nil {
			return nil, err
		}
	}
	switch may, err := p.API.MayBecome(ctx, p.account()); {
	case err != nil:
		return nil, err
	case !may:
		refused = append(refused, "the operator may not impersonate "+p.account()+", as which it tries the fence: ClusterRole capstan-private-capi-trials gives that by name")
	}
	for _, kind := range []Kind{Deployments, Namespaces} {
		if err := ask("", "patch", kind, namespace); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// checkServed asks for the shim and for webhooks of Cluster API that the components serve which are drained.
func (p *Pass) checkServed(ctx context.Context) ([]string, error) {
	if len(p.sides.couples) == 0 {
		return nil, nil
	}
	unserved, err := p.API.Unserved(ctx, p.facts.Cluster.ControlPlane)
	if err != nil {
		return nil, fmt.Errorf("asking who serves the webhooks of Cluster API: %w", err)
	}
	return unserved, nil
}
