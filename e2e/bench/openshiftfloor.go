package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// stepComplete of a guest is the end of its bootstrap.
	stepComplete = "complete"
	// sampled is the namespace of the cluster whose objects the floor writes.
	sampled = "sample"
)

// The kinds of objects of which the floor asks something.
var (
	machineKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}
	clusterKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}
	configKind  = capiworld.OpenShift.WithKind("OpenShiftConfig")
	secretKind  = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// guestObjects are what the provider writes for one cluster, keys and all.
type guestObjects struct {
	// payload are the Secrets that are there before any machine, data those that machines are started with.
	payload, data []*unstructured.Unstructured
	kubeconfig    *unstructured.Unstructured
	// machines are config, infrastructure machine and Machine of each.
	machines []*unstructured.Unstructured
	// endpoint is that of the guest which the kubeconfig names, as host and port.
	endpoint string
}

// guestFloor is how long a bare client takes that writes the same objects for so many clusters as the provider does, with keys that were
// made before, and waits at the same gates for what Cluster API, infrastructure and guests do. The provider does not run meanwhile.
func (b *bench) guestFloor(ctx context.Context, number int) (took time.Duration, err error) {
	world, err := capiworld.Start(ctx, capiworld.Options{Bin: b.bin})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	g := &guests{World: world, bench: b}
	image, err := world.Release(ctx, release)
	if err != nil {
		return 0, err
	}
	objects, err := g.sample(ctx, image)
	if err != nil {
		return 0, fmt.Errorf("making a sample: %w", err)
	}
	if err := world.Manager(capiworld.Provider).Stop(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, guestsPatience, fmt.Errorf("%s is too long", guestsPatience))
	defer cancel()
	watching, err := client.NewWithWatch(world.Cluster.Config(), client.Options{Scheme: world.API.Scheme()})
	if err != nil {
		return 0, fmt.Errorf("building a client: %w", err)
	}
	all, err := busyAltogether()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	slots := make(chan struct{}, atOnce)
	for i := range number {
		asked := g.Ask(guestKey(i), guestReplicas, image, "")
		group.Go(func() error {
			f := &floorGuest{client: watching, asked: asked, objects: objects, slots: slots}
			if err := f.install(ctx); err != nil {
				return fmt.Errorf("cluster %s: %w", asked.Key, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	took = time.Since(began)
	busy, err := busyAltogether()
	if err != nil {
		return 0, err
	}
	b.say("the floor of %d clusters takes %.1f s, and all that runs %.0f s of the processor", number, took.Seconds(), (busy - all).Seconds())
	return took, nil
}

// sample has the provider make a cluster whose bootstrap does not end, takes what it has made, and has it deleted.
func (g *guests) sample(ctx context.Context, image string) (*guestObjects, error) {
	key := capiworld.Key{Namespace: sampled, Name: guestKey(0).Name}
	asked := g.Ask(key, guestReplicas, image, stepComplete)
	if err := g.CreateNamespace(ctx, key.Namespace); err != nil {
		return nil, err
	}
	if err := g.Create(ctx, asked.Objects()...); err != nil {
		return nil, err
	}
	err := harness.Eventually(ctx, "it to be Bootstrapping", func(ctx context.Context) error {
		s, err := g.Standing(ctx, key)
		return errors.Join(g.Alive(), err, s.Is("Bootstrapping"))
	})
	if err != nil {
		return nil, err
	}
	objects, err := g.taken(ctx, asked)
	if err != nil {
		return nil, err
	}
	if err := g.API.Delete(ctx, asked.Cluster); err != nil {
		return nil, fmt.Errorf("deleting Cluster %s: %w", key, err)
	}
	return objects, harness.Eventually(ctx, "it to be gone", func(ctx context.Context) error {
		left, err := g.Objects(ctx, key.Namespace)
		if err == nil && len(left) > 1 {
			err = fmt.Errorf("these are left: %q", left)
		}
		return err
	})
}

// taken are the objects that the provider has made.
func (g *guests) taken(ctx context.Context, asked *capiworld.Asked) (*guestObjects, error) {
	objects := &guestObjects{endpoint: strings.TrimPrefix(guestAddress(asked), "https://")}
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
	if len(objects.machines) != 3*(guestReplicas+1) || len(objects.data) != guestReplicas+1 || len(objects.payload) == 0 || objects.kubeconfig == nil {
		return nil, fmt.Errorf("there are %d objects of machines, %d data Secrets and %d others", len(objects.machines), len(objects.data), len(objects.payload))
	}
	return objects, nil
}

// take takes an object as whoever makes it would send it.
func (o *guestObjects) take(one *unstructured.Unstructured) {
	owners := one.GetOwnerReferences()
	sent := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}}
	for _, field := range []string{"apiVersion", "kind", "spec", "data", "type"} {
		if value, has := one.Object[field]; has {
			sent.Object[field] = value
		}
	}
	sent.SetName(one.GetName())
	sent.SetLabels(one.GetLabels())
	sent.SetAnnotations(one.GetAnnotations())
	switch {
	case one.GetKind() != secretKind.Kind:
		unstructured.RemoveNestedField(sent.Object, "spec", "providerID") // what others have found out since
		unstructured.RemoveNestedField(sent.Object, "spec", "bootstrap", "dataSecretName")
		o.machines = append(o.machines, sent)
	case len(owners) == 0: // an input
	case owners[0].Kind == "OpenShiftConfig":
		o.data = append(o.data, sent)
	case strings.HasSuffix(one.GetName(), "-kubeconfig"):
		o.kubeconfig = sent
	default:
		o.payload = append(o.payload, sent)
	}
}
