package compatibility

import (
	"context"
	"slices"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

// side is how many requirements get their passes side by side.
const side = 4

// Add binds the machine to the manager's cluster, and the controller of what all requirements share.
func Add(mgr ctrl.Manager, o options.Options) error {
	p := &phases.Phases{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Namespace: o.OperatorNamespace,
		URL: o.WebhooksURL, CA: o.WebhooksCA, Now: o.House.Now,
	}
	if err := addShared(mgr, o, p); err != nil {
		return err
	}
	return house.Add(mgr, o.House, house.Machine[guards.Facts, *phases.Pass]{
		Table: table.OpeningAfter(o.OpenAfter), Observe: p.Observe, Exists: exists(mgr.GetClient()), Words: words, Side: side,
		Watches: watches(mgr.GetClient(), o.OperatorNamespace), Store: p.Store(table.Conditions, table.Line),
	})
}

func exists(c client.Reader) func(context.Context, machine.Key) (bool, error) {
	return func(ctx context.Context, key machine.Key) (bool, error) {
		err := c.Get(ctx, client.ObjectKey{Name: string(key)}, &requirementsv1alpha1.CompatibilityRequirement{})
		return err == nil, client.IgnoreNotFound(err)
	}
}

// words are what the machine says of a pass.
func words(key machine.Key, s phases.Snapshot) house.Words {
	about := corev1.ObjectReference{APIVersion: requirementsv1alpha1.GroupVersion.String(), Kind: "CompatibilityRequirement", Name: string(key)}
	if s.Seen.Requirement != nil {
		about.UID = s.Seen.Requirement.UID
	}
	return house.Words{Line: table.Line(s), Subject: s.Seen.CRDName, About: about}
}

func watches(c client.Reader, namespace string) []house.Watch {
	of := requirements{c}
	return []house.Watch{
		{Kind: &requirementsv1alpha1.CompatibilityRequirement{}, Lets: predicate.Funcs{}, Asks: house.Itself},
		{Kind: phases.CRDMetadata(), Lets: anew, Asks: of.about},
		{Kind: &admissionregistrationv1.ValidatingWebhookConfiguration{}, Lets: predicate.Funcs{}, Asks: of.configuredBy},
		{Kind: &admissionregistrationv1.MutatingWebhookConfiguration{}, Lets: predicate.Funcs{}, Asks: of.configuredBy},
		{Kind: &discoveryv1.EndpointSlice{}, Lets: inNamespace(namespace), Asks: of.all},
	}
}

// anew lets through definitions that come, go or change in more than their status.
var anew = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration()
}}

func inNamespace(namespace string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetNamespace() == namespace })
}

// requirements finds those that an object matters to, in the cache. If it cannot be read, the next event finds them.
type requirements struct{ in client.Reader }

func (r requirements) keys(which func(*requirementsv1alpha1.CompatibilityRequirement) bool) []machine.Key {
	list := &requirementsv1alpha1.CompatibilityRequirementList{}
	if err := r.in.List(context.Background(), list); err != nil {
		return nil
	}
	var keys []machine.Key
	for i := range list.Items {
		if which(&list.Items[i]) {
			keys = append(keys, machine.Key(list.Items[i].Name))
		}
	}
	return keys
}

func (r requirements) all(client.Object) []machine.Key {
	return r.keys(func(*requirementsv1alpha1.CompatibilityRequirement) bool { return true })
}

// about are the requirements of a definition. Of one whose name is not known yet, the first pass reads the definition.
func (r requirements) about(definition client.Object) []machine.Key {
	name := definition.GetName()
	return r.keys(func(r *requirementsv1alpha1.CompatibilityRequirement) bool {
		return r.Status.CRDName == name || r.Status.CRDName == ""
	})
}

// configuredBy are the requirements whose webhooks stand in a configuration.
func (r requirements) configuredBy(o client.Object) []machine.Key {
	if o.GetName() == phases.CRDsConfiguration {
		return r.all(o)
	}
	named := r.keys(func(r *requirementsv1alpha1.CompatibilityRequirement) bool { return r.Name == o.GetName() })
	return slices.Clip(named)
}
