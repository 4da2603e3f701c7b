package compatibility

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema/live"
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
	defer func() { p.sharing.keep(err) }()
	var errs []error
	for _, c := range []*configuration{requirementsConfigured(), crdsConfiguration()} {
		if err := p.look(ctx, c); err != nil {
			return 0, err
		}
		if c.name == CRDsConfiguration {
			now, _ := c.live.(*admissionregistrationv1.ValidatingWebhookConfiguration)
			denied := asked(all.Items)
			if loosened := loosens(denied, now); len(loosened) > 0 {
				if err := p.seesAll(ctx, all.Items, loosened); err != nil {
					errs = append(errs, err)
					for _, name := range loosened {
						denied[name] = true
					}
				}
			}
			c.hooks = entries(denied, now)
		}
		k := checker{ready: ready}
		if k.disarmed, err = p.disarmed(ctx, c); err != nil {
			return 0, err
		}
		armed, err := p.share(ctx, c, k)
		if errs = append(errs, err); !armed {
			again = sooner(again, p.again(k))
		}
		again = sooner(again, p.fights.left(c.String(), p.Now()))
	}
	errs = append(errs, p.sweep(ctx, all.Items))
	return again, errors.Join(errs...)
}

// sharing is what came of the last [Phases.Share]: what all share is a part of what each requirement needs.
type sharing struct {
	mu  sync.Mutex
	err error
}

func (s *sharing) keep(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *sharing) last() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// loosens are the definitions whose writes are denied, and are to be denied no more.
func loosens(denied map[string]bool, now *admissionregistrationv1.ValidatingWebhookConfiguration) []string {
	return slices.DeleteFunc(slices.Concat(places(denyPrefix, now)...), func(name string) bool { return denied[name] })
}

// seesAll asks the API server whether there are requirements that the cache does not show, or shows as they were. What such
// a cache would have loosened of definitions goes on to be denied.
func (p *Phases) seesAll(ctx context.Context, cached []requirementsv1alpha1.CompatibilityRequirement, loosened []string) error {
	known := map[types.UID]*requirementsv1alpha1.CompatibilityRequirement{}
	for i := range cached {
		known[cached[i].UID] = &cached[i]
	}
	there := &metav1.PartialObjectMetadataList{}
	there.SetGroupVersionKind(requirementsv1alpha1.GroupVersion.WithKind("CompatibilityRequirementList"))
	if gone, err := live.Gone(ctx, p.Live, p.Live.List(ctx, there)); err != nil {
		return fmt.Errorf("listing CompatibilityRequirements: %w", err)
	} else if gone {
		return nil
	}
	for i := range there.Items {
		now := &there.Items[i]
		seen := known[now.UID]
		switch {
		case now.DeletionTimestamp != nil:
		case seen == nil:
			return fmt.Errorf("CompatibilityRequirement %s is there, and not seen yet: nothing is loosened until it is", now.Name)
		case seen.ResourceVersion != now.ResourceVersion && (seen.Status.CRDName == "" || slices.Contains(loosened, seen.Status.CRDName)):
			return fmt.Errorf("CompatibilityRequirement %s has just changed: nothing is loosened until that is seen", now.Name)
		}
	}
	return nil
}

// share writes a shared configuration. One that is somebody else's is left alone: the requirements wait for it, and say so.
func (p *Phases) share(ctx context.Context, c *configuration, k checker) (armed bool, err error) {
	if c.live != nil && !Ours(c.live) {
		return true, nil
	}
	if len(c.hooks) == 0 && c.live == nil {
		return true, nil
	}
	p.trust(c)
	arm, all := p.armed(ctx, c, k)
	_, err = p.write(ctx, c, p.wanted(c, arm))
	return *all, err
}

// sweep deletes the configurations whose requirement is gone.
func (p *Phases) sweep(ctx context.Context, all []requirementsv1alpha1.CompatibilityRequirement) error {
	known := map[string]bool{}
	for i := range all {
		known[all[i].Name] = true
	}
	var errs []error
	for kind, list := range map[string]client.ObjectList{
		"ValidatingWebhookConfiguration": &admissionregistrationv1.ValidatingWebhookConfigurationList{},
		"MutatingWebhookConfiguration":   &admissionregistrationv1.MutatingWebhookConfigurationList{},
	} {
		if err := p.Client.List(ctx, list); err != nil {
			return fmt.Errorf("listing each %s: %w", kind, err)
		}
		for _, o := range objectsIn(list) {
			if known[o.GetName()] || shared(o.GetName()) || !Ours(o) {
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
	return live.Gone(ctx, p.Live, p.Live.Get(ctx, client.ObjectKey{Name: name}, &requirementsv1alpha1.CompatibilityRequirement{}))
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
