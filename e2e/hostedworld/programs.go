package hostedworld

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// finalizer is that of the programs: what is deleted past them would stay in the cloud.
const finalizer = "machine.example.com/in-cloud"

// program is one pass of a component over the namespace that it works in. All of them know the standard groups alone.
type program func(ctx context.Context, p pod) error

// programs are the components of a hosted cluster, by the name of their Deployment; nil does nothing.
var programs = map[string]program{"control-plane-operator": nil, "cluster-api": manageMachines, "capi-provider": provideMachines}

// pod is what a program is given.
type pod struct {
	client.Client
	namespace string
	cloud     *Cloud
	// broken is the machine that the provider cannot reach, empty for none.
	broken string
}

// paused says whether any Cluster is.
func (p pod) paused(ctx context.Context) (bool, error) {
	clusters, err := list(ctx, p, kind(Standard, "Cluster"), p.namespace)
	return slices.ContainsFunc(clusters, func(o Object) bool {
		is, _, _ := unstructured.NestedBool(o.Object, "spec", "paused")
		return is
	}), err
}

// manageMachines stands in for Cluster API's manager: it gives each MachineSet the Machines that it asks for, and each Machine the
// provider's object and a Secret to start from.
func manageMachines(ctx context.Context, p pod) error {
	sets, err := list(ctx, p, kind(Standard, "MachineSet"), p.namespace)
	if err != nil {
		return err
	}
	machines, err := list(ctx, p, kind(Standard, "Machine"), p.namespace)
	if err != nil {
		return err
	}
	provided, err := list(ctx, p, kind(infrastructure+Standard, inMemoryMachine), p.namespace)
	if err != nil {
		return err
	}
	for i := range sets {
		wanted, _, _ := unstructured.NestedInt64(sets[i].Object, "spec", "replicas")
		for n := range int(wanted) {
			name := fmt.Sprintf("%s-%d", sets[i].GetName(), n)
			if !slices.ContainsFunc(machines, named(name)) {
				if err := p.createMachine(ctx, &sets[i], name); err != nil {
					return err
				}
			}
		}
	}
	for i := range machines {
		name := machines[i].GetName()
		at := slices.IndexFunc(provided, named(name))
		if at < 0 {
			err = p.provide(ctx, &machines[i])
		} else {
			err = p.tellOf(ctx, &machines[i], &provided[at])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func named(name string) func(Object) bool {
	return func(o Object) bool { return o.GetName() == name }
}

func (p pod) createMachine(ctx context.Context, set *Object, name string) error {
	machine := object(kind(Standard, "Machine"), p.namespace, name, set, map[string]any{
		"clusterName": set.GetName(), "bootstrap": map[string]any{"dataSecretName": name}, "infrastructureRef": reference(inMemoryMachine, name),
	})
	machine.SetLabels(map[string]string{setLabel: set.GetName()})
	machine.SetFinalizers([]string{finalizer})
	if err := p.Create(ctx, machine); err != nil {
		return err
	}
	return p.provide(ctx, machine)
}

// provide makes what belongs to a Machine.
func (p pod) provide(ctx context.Context, machine *Object) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.namespace, Name: machine.GetName(), OwnerReferences: []metav1.OwnerReference{ownedBy(machine)},
	}}
	if err := client.IgnoreAlreadyExists(p.Create(ctx, secret)); err != nil {
		return err
	}
	provided := object(kind(infrastructure+Standard, inMemoryMachine), p.namespace, machine.GetName(), machine, map[string]any{})
	provided.SetFinalizers([]string{finalizer})
	return p.Create(ctx, provided)
}

// tellOf tells in the status of a Machine what its provider says.
func (p pod) tellOf(ctx context.Context, machine, provided *Object) error {
	ready := readiness(provided)
	if ready == "" || ready == readiness(machine) {
		return nil
	}
	phase := "Running"
	if ready != "True" {
		phase = "Provisioned"
	}
	machine.Object["status"] = map[string]any{"phase": phase, "conditions": conditions(ready)}
	return p.Status().Update(ctx, machine)
}

// provideMachines stands in for a provider: each of its objects is a machine in the cloud.
func provideMachines(ctx context.Context, p pod) error {
	provided, err := list(ctx, p, kind(infrastructure+Standard, inMemoryMachine), p.namespace)
	if err != nil {
		return err
	}
	for i := range provided {
		if err := p.reconcile(ctx, &provided[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p pod) reconcile(ctx context.Context, o *Object) error {
	name := p.namespace + "/" + o.GetName()
	if o.GetDeletionTimestamp() != nil {
		p.cloud.delete(name, field(o, "spec", "providerID"))
		o.SetFinalizers(nil)
		return p.Update(ctx, o)
	}
	if field(o, "spec", "providerID") == "" {
		o.Object["spec"] = map[string]any{"providerID": p.cloud.create(name)}
		if err := p.Update(ctx, o); err != nil {
			p.cloud.delete(name, field(o, "spec", "providerID"))
			return err
		}
	}
	ready := "True"
	if o.GetName() == p.broken {
		ready = "False"
	}
	if readiness(o) == ready {
		return nil
	}
	o.Object["status"] = map[string]any{"conditions": conditions(ready)}
	return p.Status().Update(ctx, o)
}

// readiness is the status of an object's condition Ready, empty for none.
func readiness(o *Object) string {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range all {
		if c, is := item.(map[string]any); is && c["type"] == "Ready" {
			status, _ := c["status"].(string)
			return status
		}
	}
	return ""
}

func conditions(ready string) []any {
	reason := "Running"
	if ready != "True" {
		reason = "NoAnswer"
	}
	return []any{map[string]any{
		"type": "Ready", "status": ready, "reason": reason, "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}
}
