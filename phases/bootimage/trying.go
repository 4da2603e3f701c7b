package bootimage

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// tryEvery is how often writes for a target that has failed are tried, give or take a quarter, so that not all are tried at the
// same time.
const tryEvery = 2 * time.Minute

// trying has writes done, or, for a target that has failed, tried rarely: until then it is what came of them last.
func (p *Pass) trying(write func() (machine.Result, error)) (machine.Result, error) {
	if !p.Tries {
		return write()
	}
	r := p.memory.of(p.Key, nil)
	pause := tryEvery + spread(p.Key)
	if since := p.Now().Sub(r.tried); r.failed != nil && since >= 0 && since < pause {
		return machine.Result{LookAgain: pause - since}, r.failed
	}
	result, err := write()
	at := p.Now()
	p.memory.of(p.Key, func(r *remembered) { r.tried, r.failed = at, err })
	return result, err
}

// spread is up to a quarter of the time, either way, and always the same for a key.
func spread(key machine.Key) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key)) // it never fails
	const steps = 64
	return tryEvery / 4 * (time.Duration(hash.Sum32()%(2*steps+1)) - steps) / steps
}

// names are those of the objects of a kind in the caches.
func (p *Phases) names(ctx context.Context, kind golden.Kind) ([]string, error) {
	var list client.ObjectList
	switch kind {
	case golden.MachineSets:
		list = &machinev1beta1.MachineSetList{}
	case golden.ControlPlaneMachineSets:
		list = &machinev1.ControlPlaneMachineSetList{}
	default:
		untyped := &unstructured.UnstructuredList{}
		untyped.SetGroupVersionKind(MachineSetKind.GroupVersion().WithKind(kindName(kind) + "List"))
		list = untyped
	}
	if api(kind) == guards.MachineAPI && !p.MachineAPI {
		return nil, nil
	}
	if err := p.Client.List(ctx, list, client.InNamespace(p.namespaceOf(kind)), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind, err)
	}
	var names []string
	switch l := list.(type) {
	case *machinev1beta1.MachineSetList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	case *machinev1.ControlPlaneMachineSetList:
		for i := range l.Items {
			names = append(names, l.Items[i].Name)
		}
	case *unstructured.UnstructuredList:
		for i := range l.Items {
			names = append(names, l.Items[i].GetName())
		}
	}
	return names, nil
}
