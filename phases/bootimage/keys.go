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
	others, err := p.KeysOf(ctx, func(*unstructured.Unstructured) bool { return true })
	return append(keys, others...), err
}

// KeysOf are those of the targets of Cluster API in the caches that something holds of.
func (p *Phases) KeysOf(ctx context.Context, which func(*unstructured.Unstructured) bool) ([]machine.Key, error) {
	if !p.ClusterAPI {
		return nil, nil
	}
	var keys []machine.Key
	for _, kind := range []golden.Kind{golden.CAPIMachineSets, golden.MachineDeployments} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(MachineSetKind.GroupVersion().WithKind(kindName(kind) + "List"))
		if err := p.list(ctx, kind, list); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if which(&list.Items[i]) {
				keys = append(keys, KeyOf(kind, list.Items[i].GetName()))
			}
		}
	}
	return keys, nil
}

// list shares the objects with the caches: whoever reads them changes none.
func (p *Phases) list(ctx context.Context, kind golden.Kind, into client.ObjectList) error {
	if err := p.Client.List(ctx, into, client.InNamespace(p.namespaceOf(kind)), shared); err != nil {
		return fmt.Errorf("listing %s: %w", kind, err)
	}
	return nil
}
