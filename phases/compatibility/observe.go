package compatibility

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

// Observe looks at a requirement without changing anything.
func (p *Phases) Observe(ctx context.Context, key machine.Key) (guards.Facts, *Pass, error) {
	pass := &Pass{Phases: p}
	r := &requirementsv1alpha1.CompatibilityRequirement{}
	err := p.Client.Get(ctx, client.ObjectKey{Name: string(key)}, r)
	if apierrors.IsNotFound(err) {
		return guards.Facts{}, pass, nil
	}
	if err != nil {
		return guards.Facts{}, pass, fmt.Errorf("reading CompatibilityRequirement %s: %w", key, err)
	}
	pass.Requirement = r
	f := guards.Facts{Seen: true, Deleting: r.DeletionTimestamp != nil, UID: string(r.UID), Generation: r.Generation, CheckerSeen: true}
	if f.CheckerReady, err = p.Ready(ctx); err != nil {
		return guards.Facts{}, pass, err
	}
	// Others may have written the hooks for this generation just before this pass: from the one after it on, it is known
	// for how long they stand.
	f.Hooks.New = toldOf(r, StateCondition) != r.Generation
	pass.checker.ready = f.CheckerReady
	f.CheckerStays, pass.staysIn = p.stays.now(p.Now())
	both, err := p.configurationsOf(ctx, r.Name)
	if err != nil {
		return guards.Facts{}, pass, err
	}
	if pass.checker.disarmed, err = p.disarmed(ctx, both...); err != nil {
		return guards.Facts{}, pass, err
	}
	if r.Spec.ObjectSchemaValidation.Action != "" { // the names are wanted, whatever the data says
		f.Hooks.Taken = taken(both, r)
	}
	pass.CRDName = r.Status.CRDName
	if f.Deleting {
		pass.configurations = both
		return f, pass, nil
	}
	var of target
	f.Spec, f.CRD, of, pass.unread = p.judge(ctx, key, r)
	pass.configurations = both
	if !f.Spec.Known || f.Spec.Problem != "" {
		return f, pass, nil
	}
	pass.CRDName = cmp.Or(pass.CRDName, of.crd)
	p.want(r, of, both)
	pass.known = true
	f.Hooks.Known = true
	f.Hooks.Done, f.Hooks.Missing = p.hooks(both, pass.checker)
	done, missing, err := p.listed(ctx, r, pass.CRDName, pass.checker)
	if err != nil {
		return guards.Facts{}, pass, err
	}
	f.Hooks.Done, f.Hooks.Missing = f.Hooks.Done+done, append(f.Hooks.Missing, missing...)
	// Without it nothing is proved, and what cannot be judged is not refused when it is written.
	own := requirementsConfigured()
	if err := p.look(ctx, own); err != nil {
		return guards.Facts{}, pass, err
	}
	if own.live != nil && !Ours(own.live) {
		f.Hooks.Missing = append(f.Hooks.Missing, own.String()+" is somebody else's: delete it, and it is made anew")
	}
	return f, pass, nil
}

// toldOf is the generation that a condition of a requirement speaks of, zero without one.
func toldOf(r *requirementsv1alpha1.CompatibilityRequirement, condition string) int64 {
	if c := meta.FindStatusCondition(r.Status.Conditions, condition); c != nil {
		return c.ObservedGeneration
	}
	return 0
}

func taken(both []*configuration, r *requirementsv1alpha1.CompatibilityRequirement) []string {
	var names []string
	for _, c := range both {
		mutates := c.kind == "MutatingWebhookConfiguration"
		if mutates && r.Spec.ObjectSchemaValidation.Action != requirementsv1alpha1.CRDAdmitActionDeny {
			continue
		}
		if c.foreign {
			names = append(names, c.String())
		}
	}
	return names
}

// hooks says how far the configurations are that are the requirement's own.
func (p *Phases) hooks(both []*configuration, k checker) (done int, missing []string) {
	for _, c := range both {
		switch {
		case len(c.hooks) > 0:
			n, lacks := p.stands(c, k)
			done, missing = done+n, append(missing, lacks...)
		case c.live != nil && !c.foreign:
			missing = append(missing, c.String()+" is not wanted any more")
		default:
			done++
		}
	}
	return done, missing
}

// listed says how far the definition of a requirement is in the configuration that all share.
func (p *Phases) listed(ctx context.Context, r *requirementsv1alpha1.CompatibilityRequirement, crd string, k checker) (done int, missing []string, err error) {
	action := crdschema.Asked(r).CRDs
	if action == "" {
		return 0, nil, nil
	}
	c := crdsConfiguration()
	if err := p.look(ctx, c); err != nil {
		return 0, nil, err
	}
	live, _ := c.live.(*admissionregistrationv1.ValidatingWebhookConfiguration)
	if live == nil || !Ours(live) {
		if live == nil {
			return 0, []string{c.String() + " does not exist yet"}, nil
		}
		return 0, []string{c.String() + " is somebody else's: delete it, and it is made anew"}, nil
	}
	denies := action == requirementsv1alpha1.CRDAdmitActionDeny
	for i := range live.Webhooks {
		h := &live.Webhooks[i]
		// What somebody else denies is not warned of, too.
		if !slices.Contains(namesIn(h.MatchConditions), crd) || denies && !isDeny(h.Name) {
			continue
		}
		if !p.isEntry(h) {
			return 0, []string{c.String() + ", webhook " + h.Name + ", is not as wanted" + p.fights.told(c.String())}, nil
		}
		done++
		if len(h.ClientConfig.CABundle) == 0 {
			missing = append(missing, c.String()+" has no CA bundle yet")
		} else if done++; denies && (h.FailurePolicy == nil || *h.FailurePolicy != admissionregistrationv1.Fail) {
			missing = append(missing, unarmed(c, k)+p.fights.told(c.String()))
		} else {
			done++
		}
		return done, missing, nil
	}
	return 0, []string{c.String() + " does not list CRD " + crd + " yet"}, nil
}

// Ready says whether somebody answers the webhooks.
func (p *Phases) Ready(ctx context.Context) (bool, error) {
	slices := &discoveryv1.EndpointSliceList{}
	err := p.Client.List(ctx, slices, client.InNamespace(p.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: Service})
	if err != nil {
		return false, fmt.Errorf("listing the endpoints of Service %s: %w", Service, err)
	}
	for _, s := range slices.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				p.stays.begun(p.Now())
				return true, nil
			}
		}
	}
	p.stays.ended()
	p.probe.anew()
	return false, nil
}
