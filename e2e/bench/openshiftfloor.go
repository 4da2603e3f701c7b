package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
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

// guestFloor is how long a bare client takes that writes the same objects for so many clusters as the provider does, with keys that were
// made before, and waits at the same gates for what Cluster API, infrastructure and guests do. Each object and
// each status is written once, as it is at the end; only the control plane's status is written twice: when the API answers, and at the end.
// The provider does not run meanwhile.
func (b *bench) guestFloor(ctx context.Context, number int) (took time.Duration, err error) {
	world, err := capiworld.Start(ctx, capiworld.Options{Bin: b.bin, Direct: true})
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
