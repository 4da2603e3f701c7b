package bootimage

import (
	"context"
	"fmt"

	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Keys are those of all targets in the caches.
func (p *Phases) Keys(ctx context.Context) ([]machine.Key, error) {
	var keys []machine.Key
	if p.MachineAPI {
		sets, control := &machinev1beta1.MachineSetList{}, &machinev1.ControlPlaneMachineSetList{}
		if err := p.list(ctx, golden.MachineSets, sets); err != nil {
			return nil, err
		}
		for i := range sets.Items {
			keys = append(keys, KeyOf(golden.MachineSets, sets.Items[i].Name))
		}
		if err := p.list(ctx, golden.ControlPlaneMachineSets, control); err != nil {
			return nil, err
		}
		for i := range control.Items {
			keys = append(keys, KeyOf(golden.ControlPlaneMachineSets, control.Items[i].Name))
		}
	}
	others, err := p.keysOf(ctx)
	return append(keys, others...), err
}

// Index is that of the caches of targets of Cluster API by what they depend on: a wave makes a template for each, and each is an event.
const Index = "dependsOn"

// What the values of the index begin with: those of the template that a target names, of what is cloned for it, and of its Cluster.
const (
	naming  = "named/"
	cloning = "clone-of/"
	member  = "of/"
)

// IndexOf are the values of a target in the index.
func IndexOf(o client.Object) []string {
	values := []string{cloning + golden.CloneOf(o.GetName())}
	if set, is := o.(*unstructured.Unstructured); is {
		values = append(values, naming+templateName(set), member+clusterName(set))
	}
	return values
}

// KeysOfTemplate are those of the targets of Cluster API in the caches that name a template, or for which it was cloned.
func (p *Phases) KeysOfTemplate(ctx context.Context, template client.Object) ([]machine.Key, error) {
	keys, err := p.keysOf(ctx, client.MatchingFields{Index: naming + template.GetName()})
	if set := template.GetLabels()[golden.CloneOfLabel]; set != "" && err == nil {
		var cloned []machine.Key
		cloned, err = p.keysOf(ctx, client.MatchingFields{Index: cloning + set})
		keys = append(keys, cloned...)
	}
	return keys, err
}

// KeysOfCluster are those of the targets of Cluster API in the caches that are of a Cluster.
func (p *Phases) KeysOfCluster(ctx context.Context, cluster string) ([]machine.Key, error) {
	return p.keysOf(ctx, client.MatchingFields{Index: member + cluster})
}

// keysOf are those of the targets of Cluster API in the caches.
func (p *Phases) keysOf(ctx context.Context, which ...client.ListOption) ([]machine.Key, error) {
	if !p.ClusterAPI {
		return nil, nil
	}
	var keys []machine.Key
	for _, kind := range []golden.Kind{golden.CAPIMachineSets, golden.MachineDeployments} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(MachineSetKind.GroupVersion().WithKind(kindName(kind) + "List"))
		if err := p.list(ctx, kind, list, which...); err != nil {
			return nil, err
		}
		for i := range list.Items {
			keys = append(keys, KeyOf(kind, list.Items[i].GetName()))
		}
	}
	return keys, nil
}

// list shares the objects with the caches: whoever reads them changes none.
func (p *Phases) list(ctx context.Context, kind golden.Kind, into client.ObjectList, which ...client.ListOption) error {
	if err := p.Client.List(ctx, into, append(which, client.InNamespace(p.namespaceOf(kind)), shared)...); err != nil {
		return fmt.Errorf("listing %s: %w", kind, err)
	}
	return nil
}
