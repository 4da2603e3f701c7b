package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/capstan-capi/capstan/e2e/booted"
	"github.com/capstan-capi/capstan/e2e/capiworld"
)

const (
	// bootedMasters is how many control-plane machines a cluster has whose guest boots, bootedVersion the version that it is told to have.
	bootedMasters = 3
	bootedVersion = "4.22.0"
	// bootedPatience is how long one may take.
	bootedPatience = 5 * time.Minute
	// bootedWell is how long all operators of a guest have to be well before it is Installed, which nobody can make shorter.
	bootedWell = 30 * time.Second
)

// bootedScenario is that of a guest with a control plane of its own.
func bootedScenario() scenario {
	return scenario{
		"openshift-one", fmt.Sprintf("one cluster of OpenShift with %d control-plane machines in memory, whose guest boots: an etcd and a kube-apiserver of its own; from asking to Installed, without the %.0f s in which all has to be well",
			bootedMasters, bootedWell.Seconds()) + "; the floor is that of a guest in memory, which answers at once",
		[]target{wallBesideWaiting(15)},
		installingBooted,
	}
}

// installingBooted measures clusters one after the other on one management plane, and on another the floor of one whose guest is in memory:
// it answers at once, so that this is what Cluster API and infrastructure take by themselves.
func installingBooted(ctx context.Context, b *bench) (samples []sample, err error) {
	if err := booted.Prepare(); err != nil {
		return nil, err
	}
	floor, err := b.guestFloor(ctx, 1)
	if err != nil {
		return nil, fmt.Errorf("measuring the floor: %w", err)
	}
	world, err := capiworld.Start(ctx, capiworld.Options{Bin: b.bin, Direct: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	release, err := world.Release(ctx, bootedVersion)
	if err != nil {
		return nil, err
	}
	for run := range b.runs {
		asked := world.Ask(capiworld.Key{Namespace: fmt.Sprintf("booted-%d", run), Name: "one"}, bootedMasters, release, capiworld.StepAPI)
		took, waited, err := installBooted(ctx, world, asked)
		if err != nil {
			return nil, fmt.Errorf("run %d: %w\n%s", run+1, err, world.Tell(context.WithoutCancel(ctx)))
		}
		b.say("run %d of %d: %.1f s, in %.1f s of which nothing was computed", run+1, b.runs, took, waited)
		samples = append(samples, sample{Objects: bootedMasters, Seconds: took, waited: waited, FloorSeconds: floor.Seconds()})
	}
	return samples, nil
}

// installBooted has a cluster made and deleted, and returns how long the first took beside bootedWell, and in how much of that nothing was
// computed, both in seconds.
func installBooted(ctx context.Context, world *capiworld.World, asked *capiworld.Asked) (took, waited float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bootedPatience, fmt.Errorf("%s is too long", bootedPatience))
	defer cancel()
	if err := world.CreateNamespace(ctx, asked.Key.Namespace); err != nil {
		return 0, 0, err
	}
	began, idle := time.Now(), waits(ctx)
	if err := world.Create(ctx, asked.Objects()...); err != nil {
		return 0, 0, err
	}
	guest, _, err := world.BringUp(ctx, asked, bootedVersion)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, guest.Stop()) }()
	if err := comesTo(ctx, world, asked.Key, "Installed"); err != nil {
		return 0, 0, err
	}
	took = (time.Since(began) - bootedWell).Seconds()
	if waited, err = idle.end(bootedWell); err != nil {
		return 0, 0, err
	}
	waited = min(took, waited)
	return took, waited, remove(ctx, world, asked)
}
