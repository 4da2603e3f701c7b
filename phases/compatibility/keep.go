package compatibility

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

var writesConfigurations = []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}

// KeepHooks has the configurations of a requirement as they are wanted.
var KeepHooks = machine.Action[*Pass]{
	Name: "KeepHooks", Writes: writesConfigurations, Run: keepHooks,
	Doc: "creates the requirement's webhook configurations, puts right what differs, and deletes those that are not wanted any more; leaves CA bundles alone, and configurations of others. A webhook that denies becomes Fail only after the checker has refused a test through the API server. Deletes: ValidatingWebhookConfiguration and MutatingWebhookConfiguration of the requirement.",
}

// OpenHooks has nothing refused for a requirement.
var OpenHooks = machine.Action[*Pass]{
	Name: "OpenHooks", Writes: writesConfigurations, Run: openHooks,
	Doc: "sets the requirement's webhooks to Ignore.",
}

// RearmHooks restores what refuses, and no more.
var RearmHooks = machine.Action[*Pass]{
	Name: "RearmHooks", Writes: writesConfigurations, Run: rearmHooks,
	Doc: "sets those of the requirement's webhooks to Fail that deny, after the checker has refused a test through the API server; nothing else of them changes.",
}

// RemoveHooks takes away what is enforced for a requirement.
var RemoveHooks = machine.Action[*Pass]{
	Name: "RemoveHooks", Writes: writesConfigurations, Run: removeHooks,
	Doc: "deletes the requirement's webhook configurations, and leaves those of others alone. Deletes: ValidatingWebhookConfiguration and MutatingWebhookConfiguration of the requirement.",
}

func keepHooks(ctx context.Context, p *Pass) (machine.Result, error) {
	if !p.known {
		return machine.Result{}, p.unread
	}
	var did []string
	var errs []error
	armed := true
	for _, c := range p.configurations {
		switch {
		case len(c.hooks) == 0 && c.live != nil && !c.foreign:
			done, err := p.remove(ctx, c)
			did, errs = append(did, done), append(errs, err)
		case len(c.hooks) > 0 && !c.foreign:
			arm, all := p.armed(ctx, c, p.checker)
			done, err := p.write(ctx, c, p.wanted(c, arm))
			did, errs, armed = append(did, done), append(errs, err), armed && *all
		}
	}
	return p.result(did, armed), errors.Join(append(errs, p.unread, p.sharing.last())...)
}

// openHooks has what is the requirement's own let everything pass; what all share is opened for it by Share, and if that
// fails, it has not succeeded either.
func openHooks(ctx context.Context, p *Pass) (machine.Result, error) {
	did, err := p.rewrite(ctx, func(hook) admissionregistrationv1.FailurePolicyType { return admissionregistrationv1.Ignore })
	return did, errors.Join(err, p.sharing.last())
}

func rearmHooks(ctx context.Context, p *Pass) (machine.Result, error) {
	denies := p.Requirement != nil && crdschema.Held(p.Requirement).Objects == requirementsv1alpha1.CRDAdmitActionDeny
	all := true
	result, err := p.rewrite(ctx, func(h hook) admissionregistrationv1.FailurePolicyType {
		switch {
		case h.policy == admissionregistrationv1.Fail || !denies || len(h.ca) == 0:
			return h.policy
		case p.checker.arms() && p.proves(ctx):
			return admissionregistrationv1.Fail
		}
		all = false
		return h.policy
	})
	if !all {
		result.LookAgain = sooner(result.LookAgain, p.again(p.checker))
	}
	return result, err
}

func removeHooks(ctx context.Context, p *Pass) (machine.Result, error) {
	var did []string
	var errs []error
	for _, c := range p.configurations {
		if c.live != nil && !c.foreign {
			done, err := p.remove(ctx, c)
			did, errs = append(did, done), append(errs, err)
		}
	}
	return p.result(did, true), errors.Join(errs...)
}

// rewrite changes nothing but the policies of the live configurations that are the requirement's own.
func (p *Pass) rewrite(ctx context.Context, policy func(hook) admissionregistrationv1.FailurePolicyType) (machine.Result, error) {
	var did []string
	var errs []error
	for _, c := range p.configurations {
		if c.live == nil || c.foreign {
			continue
		}
		after, _ := c.live.DeepCopyObject().(client.Object)
		setPolicies(after, func(name string, a armament) admissionregistrationv1.FailurePolicyType {
			return policy(hook{name: name, policy: a.policy, ca: a.ca})
		})
		done, err := p.write(ctx, c, after)
		did, errs = append(did, done), append(errs, err)
	}
	return p.result(did, true), errors.Join(errs...)
}

// setPolicies changes the policy of each webhook in a configuration.
func setPolicies(o client.Object, policy func(name string, a armament) admissionregistrationv1.FailurePolicyType) {
	by := armaments(o)
	switch to := o.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range to.Webhooks {
			is := policy(to.Webhooks[i].Name, by[to.Webhooks[i].Name])
			to.Webhooks[i].FailurePolicy = &is
		}
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for i := range to.Webhooks {
			is := policy(to.Webhooks[i].Name, by[to.Webhooks[i].Name])
			to.Webhooks[i].FailurePolicy = &is
		}
	}
}

// write sends a configuration if it differs from what is there, and says what it did. The API server refuses what was made
// from an old copy; the pass for the newer one, or one a moment later, makes it again. What somebody keeps changing is not
// written on each pass; until it is again, an error that the last write met stands.
func (p *Phases) write(ctx context.Context, c *configuration, wanted client.Object) (did string, err error) {
	if c.live != nil && same(c.live, wanted) {
		p.fights.rests(c.String())
		return "", nil
	}
	if !p.fights.may(c.String(), wanted, p.Now()) {
		return "", p.fights.last(c.String())
	}
	if c.live == nil {
		did, err = "created "+c.String(), p.Client.Create(ctx, wanted, client.FieldOwner(Manager))
	} else {
		did, err = "put "+c.String()+" right", p.Client.Patch(ctx, wanted, client.MergeFromWithOptions(c.live, client.MergeFromWithOptimisticLock{}), client.FieldOwner(Manager))
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || c.live != nil && apierrors.IsNotFound(err) {
		p.fights.refund(c.String())
		did, err = "", nil
	}
	if err != nil {
		did, err = "", fmt.Errorf("writing %s: %w", c, err)
		if apierrors.IsInvalid(err) { // by what its author asks for: another try says the same
			err = machine.Terminal(err)
		}
	}
	p.fights.ended(c.String(), err)
	return did, err
}

// remove deletes a configuration as it was seen.
func (p *Phases) remove(ctx context.Context, c *configuration) (did string, err error) {
	err = p.Client.Delete(ctx, c.live, client.Preconditions{UID: ptr.To(c.live.GetUID()), ResourceVersion: ptr.To(c.live.GetResourceVersion())})
	if apierrors.IsConflict(err) {
		p.fights.miss(c.String())
		return "", nil
	}
	if p.fights.rests(c.String()); apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("deleting %s: %w", c, err)
	}
	return "deleted " + c.String(), nil
}

func (p *Pass) result(did []string, armed bool) machine.Result {
	did = slices.DeleteFunc(did, func(one string) bool { return one == "" })
	r := machine.Result{Did: strings.Join(did, "; "), LookAgain: p.staysIn}
	if !armed {
		r.LookAgain = sooner(r.LookAgain, p.again(p.checker))
	}
	for _, c := range p.configurations {
		r.LookAgain = sooner(r.LookAgain, p.fights.left(c.String(), p.Now()))
	}
	return r
}

// sooner is the shorter of two times; zero is none.
func sooner(one, other time.Duration) time.Duration {
	if one == 0 || other > 0 && other < one {
		return other
	}
	return one
}
