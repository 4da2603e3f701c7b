package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// guestReplicas is how many machines the control plane of each guest has.
	guestReplicas = 3
	// guestsPatience is how long the guests may take altogether.
	guestsPatience = 20 * time.Minute
	// guestsAskedEvery is how often it is asked whether a guest is Installed.
	guestsAskedEvery = 500 * time.Millisecond
	// askedWithin is how long a provider that starts may take until it has asked every guest.
	askedWithin = 2 * time.Minute
)

// What guests cost the provider. Requests are those to the management plane, leader election left out.
var (
	guestsTime      = figureName{what: "all are Installed after", unit: " s", clock: true}
	guestRequests   = figureName{what: "requests a cluster"}
	guestWrites     = figureName{what: "writes a cluster"}
	guestProcessor  = figureName{what: "time of the processor a cluster", unit: " s"}
	restRequests    = figureName{what: "requests in two minutes of rest"}
	restartRequests = figureName{what: "requests of a restart"}
	restartWrites   = figureName{what: "writes of a restart"}
	restartTime     = figureName{what: "every guest is asked again after", unit: " s", clock: true}
)

// guestScenarios are those of clusters of OpenShift.
func guestScenarios() []scenario {
	var all []scenario
	for _, number := range []int{5, 50} {
		all = append(all, scenario{
			fmt.Sprintf("openshift-%d", number),
			fmt.Sprintf("%d clusters of %d control-plane machines in memory are asked for at once; then they rest, and the provider starts anew", number, guestReplicas),
			[]target{
				below(guestsTime, 360), atMost(guestRequests, 160), atMost(guestWrites, 95), atMost(guestProcessor, 1.5), rss(160),
				atMost(restRequests, 0), atMost(restartRequests, 80), atMost(restartWrites, 0), below(restartTime, 5),
			},
			installingGuests(number),
		})
	}
	return all
}

// guests are clusters on a management plane.
type guests struct {
	*capiworld.World
	bench *bench
	keys  []capiworld.Key
}

// installingGuests measures all of it on one management plane, once: a hundred machines of guests say as much as many runs.
func installingGuests(number int) func(context.Context, *bench) ([]sample, error) {
	return func(ctx context.Context, b *bench) (samples []sample, err error) {
		world, err := capiworld.Start(ctx, capiworld.Options{Bin: b.bin})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, world.Stop()) }()
		g := &guests{World: world, bench: b}
		one := sample{Objects: number, figures: map[figureName]float64{}}
		for _, part := range []func(context.Context, int, *sample) error{g.install, g.rest, g.restart} {
			if err := part(ctx, number, &one); err != nil {
				return nil, fmt.Errorf("%w\n%s", err, world.Tell(context.WithoutCancel(ctx)))
			}
		}
		return []sample{one}, nil
	}
}

// install asks for guests at once, and waits until all are Installed.
func (g *guests) install(ctx context.Context, number int, one *sample) error {
	image, err := g.Release(ctx, release)
	if err != nil {
		return err
	}
	mark, err := g.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	pid := g.Manager(capiworld.Provider).PID()
	before, err := processorSeconds(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	for i := range number {
		key := capiworld.Key{Namespace: fmt.Sprintf("guests-%d", i), Name: "one"}
		g.keys = append(g.keys, key)
		if err := g.CreateNamespace(ctx, key.Namespace); err != nil {
			return err
		}
		if err := g.Create(ctx, g.Ask(key, guestReplicas, image, "").Objects()...); err != nil {
			return err
		}
	}
	if err := g.installed(ctx); err != nil {
		return err
	}
	one.Seconds = time.Since(began).Seconds()
	own, err := g.own(ctx, mark)
	if err != nil {
		return err
	}
	after, err := processorSeconds(pid)
	if err != nil {
		return err
	}
	one.Requests, one.Writes = len(own), len(own.Writes())
	clusters := float64(number)
	one.figures[guestsTime] = one.Seconds
	one.figures[guestRequests], one.figures[guestWrites] = float64(one.Requests)/clusters, float64(one.Writes)/clusters
	one.figures[guestProcessor] = (after - before) / clusters
	g.bench.say("%d clusters in %.0f s: a cluster takes %d requests, of which %d writes, and %.2f s of the processor", number, one.Seconds,
		one.Requests/number, one.Writes/number, (after-before)/clusters)
	g.bench.say("  requests: %s", tally(own))
	one.RSSMiB, err = peakMiB(pid)
	return err
}

// installed waits until every guest is.
func (g *guests) installed(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, guestsPatience, fmt.Errorf("%s is too long", guestsPatience))
	defer cancel()
	waiting := slices.Clone(g.keys)
	for len(waiting) > 0 {
		s, err := g.Standing(ctx, waiting[0])
		if err == nil {
			err = s.Is("Installed")
		}
		if err == nil {
			waiting = waiting[1:]
			continue
		}
		// To ask again and again would slow the provider down.
		if ended := errors.Join(g.Alive(), wait(ctx, guestsAskedEvery)); ended != nil {
			return fmt.Errorf("%s, and %d others, are not Installed: %w: %w", waiting[0], len(waiting)-1, err, ended)
		}
	}
	return nil
}

// rest counts what is asked while nothing happens.
func (g *guests) rest(ctx context.Context, _ int, one *sample) error {
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	mark, err := g.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	g.bench.say("resting for %s", restFor)
	if err := wait(ctx, restFor); err != nil {
		return err
	}
	own, err := g.own(ctx, mark)
	if err != nil {
		return err
	}
	asked := own.Where(func(r cluster.Request) bool { return r.Verb != "watch" })
	one.figures[restRequests] = float64(len(asked))
	if len(asked) > 0 {
		g.bench.say("  requests: %s", tally(asked))
	}
	return nil
}

// restart has the provider start anew, until it has read the kubeconfig of every guest.
func (g *guests) restart(ctx context.Context, number int, one *sample) error {
	provider := g.Manager(capiworld.Provider)
	if err := provider.Stop(); err != nil {
		return err
	}
	mark, err := g.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := provider.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askedWithin, fmt.Errorf("%s is too long", askedWithin))
	defer cancel()
	err = harness.Eventually(ctx, "every guest to be asked", func(ctx context.Context) error {
		own, err := g.own(ctx, mark)
		if err != nil {
			return err
		}
		read := map[string]bool{}
		for _, r := range own {
			if r.Resource == "secrets" && r.Verb == "get" {
				read[r.Namespace] = true
			}
		}
		if len(read) < number {
			return fmt.Errorf("the kubeconfigs of %d of %d were read", len(read), number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	one.figures[restartTime] = time.Since(began).Seconds()
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	own, err := g.own(ctx, mark)
	if err != nil {
		return err
	}
	one.figures[restartRequests], one.figures[restartWrites] = float64(len(own)), float64(len(own.Writes()))
	g.bench.say("a restart takes %d requests: %s", len(own), tally(own))
	return nil
}

// own are the provider's requests since a mark, without leader election.
func (g *guests) own(ctx context.Context, since cluster.Mark) (cluster.RequestList, error) {
	all, err := g.Cluster.RequestsSince(ctx, since)
	if err != nil {
		return nil, err
	}
	user := g.Manager(capiworld.Provider).User
	return withoutLease(all).Where(func(r cluster.Request) bool { return r.User == user }), nil
}
