package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// guestObjects are what the provider writes for one cluster, keys and all: each object as whoever makes it sends it, and what it is told
// later, as it is at the end.
type guestObjects struct {
	// payload are the Secrets that are there before any machine, data those that machines are started with.
	payload, data []*unstructured.Unstructured
	kubeconfig    *unstructured.Unstructured
	// machines are config, infrastructure machine and Machine of each.
	machines []*unstructured.Unstructured
	// endpoint is that of the guest which the kubeconfig names, as host and port.
	endpoint string
	// configs are the statuses of the configs by name, upToDate the condition of that name of each Machine.
	configs, upToDate map[string]any
	// plane is the control plane, of which all is told later but its spec; template that of its machines, which is told its owner.
	plane, template *unstructured.Unstructured
}

// ours are the kinds of owners that the provider sets, unlike the Machine, which becomes the owner of others by Cluster API.
var ours = []string{"OpenShiftControlPlane", "OpenShiftConfig", clusterKind.Kind}

// sample has the provider make a cluster, takes what it has made for it, and has it deleted.
func (g *guests) sample(ctx context.Context, image string) (*guestObjects, error) {
	key := capiworld.Key{Namespace: sampled, Name: guestKey(0).Name}
	asked := g.Ask(key, guestReplicas, image, stepComplete)
	tellsImage(asked, stepComplete, image)
	if err := g.CreateNamespace(ctx, key.Namespace); err != nil {
		return nil, err
	}
	if err := g.Create(ctx, asked.Objects()...); err != nil {
		return nil, err
	}
	if err := comesTo(ctx, g.World, key, "Bootstrapping"); err != nil {
		return nil, err
	}
	var objects *guestObjects
	err := harness.Eventually(ctx, "all to be told", func(ctx context.Context) (err error) {
		objects, err = g.taken(ctx, asked)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := g.Hold(ctx, key, ""); err != nil {
		return nil, err
	}
	if err := comesTo(ctx, g.World, key, "Installed"); err != nil {
		return nil, err
	}
	if objects.plane, err = g.stored(ctx, asked.ControlPlane); err != nil {
		return nil, err
	}
	if objects.template, err = g.stored(ctx, asked.Template); err != nil {
		return nil, err
	}
	return objects, remove(ctx, g.World, asked)
}

// comesTo waits until a control plane is in a state.
func comesTo(ctx context.Context, world *capiworld.World, key capiworld.Key, state string) error {
	return harness.Eventually(ctx, "it to be "+state, func(ctx context.Context) error {
		s, err := world.Standing(ctx, key)
		return errors.Join(world.Alive(), err, s.Is(state))
	})
}

// remove deletes a cluster, and waits until nothing but its input is left.
func remove(ctx context.Context, world *capiworld.World, asked *capiworld.Asked) error {
	if err := world.API.Delete(ctx, asked.Cluster); err != nil {
		return fmt.Errorf("deleting Cluster %s: %w", asked.Key, err)
	}
	return harness.Eventually(ctx, "it to be gone", func(ctx context.Context) error {
		left, err := world.Objects(ctx, asked.Key.Namespace)
		if err == nil && len(left) > 1 {
			err = fmt.Errorf("these are left: %q", left)
		}
		return err
	})
}

// stored is an object as the API server has it, with the owners that the provider has set.
func (g *guests) stored(ctx context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	now := of.DeepCopy()
	if err := g.API.Get(ctx, capiworld.Key{Namespace: of.GetNamespace(), Name: of.GetName()}, now); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", of.GetKind(), of.GetName(), err)
	}
	now.SetOwnerReferences(ownersOf(now))
	return now, nil
}

// taken are the objects that the provider has made.
func (g *guests) taken(ctx context.Context, asked *capiworld.Asked) (*guestObjects, error) {
	objects := &guestObjects{
		endpoint: strings.TrimPrefix(guestAddress(asked), "https://"), configs: map[string]any{}, upToDate: map[string]any{},
	}
	for _, of := range []schema.GroupVersionKind{
		configKind, capiworld.Infrastructure.WithKind("DevMachine"), machineKind, secretKind,
	} {
		found, err := g.List(ctx, of, asked.Key.Namespace)
		if err != nil {
			return nil, err
		}
		for i := range found {
			objects.take(&found[i])
		}
	}
	const machines = guestReplicas + 1
	if len(objects.machines) != 3*machines || len(objects.data) != machines || len(objects.configs) != machines || len(objects.upToDate) != machines {
		return nil, fmt.Errorf("there are %d objects of machines, %d data Secrets, %d statuses of configs, and %d Machines that are told to be up to date",
			len(objects.machines), len(objects.data), len(objects.configs), len(objects.upToDate))
	}
	if len(objects.payload) == 0 || objects.kubeconfig == nil {
		return nil, fmt.Errorf("there are %d Secrets of the payload, and is there a kubeconfig: %t", len(objects.payload), objects.kubeconfig != nil)
	}
	return objects, nil
}

// take takes an object as whoever makes it would send it, and what it was told.
func (o *guestObjects) take(one *unstructured.Unstructured) {
	sent := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}}
	for _, field := range []string{"apiVersion", "kind", "spec", "data", "type"} {
		if value, has := one.Object[field]; has {
			sent.Object[field] = value
		}
	}
	sent.SetName(one.GetName())
	sent.SetLabels(one.GetLabels())
	sent.SetAnnotations(one.GetAnnotations())
	owners := ownersOf(one)
	sent.SetOwnerReferences(owners)
	switch {
	case one.GetKind() != secretKind.Kind:
		unstructured.RemoveNestedField(sent.Object, "spec", "providerID") // what others have found out since
		unstructured.RemoveNestedField(sent.Object, "spec", "bootstrap", "dataSecretName")
		o.machines = append(o.machines, sent)
		o.told(one)
	case len(owners) == 0: // an input
	case owners[0].Kind == "OpenShiftConfig":
		o.data = append(o.data, sent)
	case strings.HasSuffix(one.GetName(), "-kubeconfig"):
		o.kubeconfig = sent
	default:
		o.payload = append(o.payload, sent)
	}
}

// told takes what the provider has told of an object.
func (o *guestObjects) told(one *unstructured.Unstructured) {
	switch one.GetKind() {
	case configKind.Kind:
		if status, has := one.Object["status"]; has {
			o.configs[one.GetName()] = status
		}
	case machineKind.Kind:
		conditions, _, _ := unstructured.NestedSlice(one.Object, "status", "conditions")
		for _, c := range conditions {
			if fields, is := c.(map[string]any); is && fields["type"] == "UpToDate" {
				o.upToDate[one.GetName()] = fields
			}
		}
	}
}

// ownersOf are the owners that the provider has set.
func ownersOf(one *unstructured.Unstructured) []metav1.OwnerReference {
	return slices.DeleteFunc(one.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return !slices.Contains(ours, owner.Kind) })
}
