package compatibility

import (
	"context"
	"errors"
	"fmt"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Share writes what all requirements share: the configurations in which every one of them has a part, and deletes those of
// requirements that are gone. It returns after how long to call it again; zero for when something changes.
func (p *Phases) Share(ctx context.Context) (again time.Duration, err error) {
	all := &requirementsv1alpha1.CompatibilityRequirementList{}
	if err := p.Client.List(ctx, all); err != nil {
		return 0, fmt.Errorf("listing CompatibilityRequirements: %w", err)
	}
	ready, err := p.Ready(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	proven := true
	for _, c := range []*configuration{requirementsConfigured(), crdsConfiguration()} {
		if err := p.look(ctx, c); err != nil {
			return 0, err
		}
		if c.name == CRDsConfiguration {
			live, _ := c.live.(*admissionregistrationv1.ValidatingWebhookConfiguration)
			c.hooks = entries(asked(all.Items), live)
		}
		armed, err := p.share(ctx, c, ready)
		proven, errs = proven && armed, append(errs, err)
	}
	errs = append(errs, p.sweep(ctx, all.Items))
	if ready && !proven {
		again = probeAgain
	}
	return again, errors.Join(errs...)
}

// share writes a shared configuration. One that is somebody else's is left alone: the requirements wait for it, and say so.
func (p *Phases) share(ctx context.Context, c *configuration, ready bool) (armed bool, err error) {
	if c.live != nil && !Marked(c.live) {
		return true, nil
	}
	if len(c.hooks) == 0 && c.live == nil {
		return true, nil
	}
	p.trust(c)
	arm, all := p.armed(ctx, c, ready)
	_, err = p.write(ctx, c, p.wanted(c, arm))
	return *all, err
}

// sweep deletes the configurations whose requirement is gone or was made anew.
func (p *Phases) sweep(ctx context.Context, all []requirementsv1alpha1.CompatibilityRequirement) error {
	known := map[string]types.UID{}
	for i := range all {
		known[all[i].Name] = all[i].UID
	}
	var errs []error
	for kind, list := range map[string]client.ObjectList{
		"ValidatingWebhookConfiguration": &admissionregistrationv1.ValidatingWebhookConfigurationList{},
		"MutatingWebhookConfiguration":   &admissionregistrationv1.MutatingWebhookConfigurationList{},
	} {
		if err := p.Client.List(ctx, list, client.MatchingLabels{CheckerLabel: "true"}); err != nil {
			return fmt.Errorf("listing each %s: %w", kind, err)
		}
		for _, o := range objectsIn(list) {
			if _, is := known[o.GetName()]; is || !belongs(o, o.GetName()) {
				continue
			}
			gone, err := p.isGone(ctx, o.GetName())
			if err == nil && gone {
				_, err = p.remove(ctx, &configuration{kind: kind, name: o.GetName(), live: o})
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// isGone asks the API server about a requirement that the cache does not show.
func (p *Phases) isGone(ctx context.Context, name string) (bool, error) {
	err := p.Live.Get(ctx, client.ObjectKey{Name: name}, &requirementsv1alpha1.CompatibilityRequirement{})
	return err != nil, client.IgnoreNotFound(err)
}

func objectsIn(list client.ObjectList) []client.Object {
	var all []client.Object
	switch of := list.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfigurationList:
		for i := range of.Items {
			all = append(all, &of.Items[i])
		}
	case *admissionregistrationv1.MutatingWebhookConfigurationList:
		for i := range of.Items {
			all = append(all, &of.Items[i])
		}
	}
	return all
}
