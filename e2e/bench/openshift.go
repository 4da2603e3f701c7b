package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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
	// many is how many guests the ratio to the floor is measured with. With few, waits that do not grow with their number would hide what
	// the provider itself takes.
	many = 50
	// stockedWithin is how long the provider may take until its stock of keys is full.
	stockedWithin = 10 * time.Minute
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
	guestStep       = figureName{what: "time of the processor of a step", unit: " ms", processor: true}
	guestPolls      = figureName{what: "polls a minute of a guest at rest"}
)

// guestScenarios are those of clusters of OpenShift.
func guestScenarios() []scenario {
	var all []scenario
	for _, number := range []int{5, many} {
		one := scenario{
			fmt.Sprintf("openshift-%d", number),
			fmt.Sprintf("%d clusters of %d control-plane machines in memory are asked for at once; then they rest, and the provider starts anew; "+
				"seconds and ratio without the %.0f s in which all has to be well", number, guestReplicas, bootedWell.Seconds()),
			[]target{
				below(guestsTime, 360), atMost(guestRequests, 160), atMost(guestWrites, 95), atMost(guestProcessor, 1.5), rss(160),
				atMost(restRequests, 0), atMost(guestPolls, 1), atMost(restartRequests, 80), atMost(restartWrites, 0), below(restartTime, 5),
				atMost(guestStep, 2),
			},
			installingGuests(number),
		}
		if number == many {
			one.targets = append(one.targets, ratio(1.5))
		}
		all = append(all, one)
	}
	return all
}

// guests are clusters on a management plane.
type guests struct {
	*capiworld.World
	bench *bench
	asked []*capiworld.Asked
	// filled is how often the provider has said that its stock of keys is full.
	filled int
	// idle is which part of the time the provider keeps a processor busy at rest.
	idle float64
}

// installingGuests measures all of it on one management plane, once, and the floor on another: a hundred machines of guests say as much
// as many runs.
func installingGuests(number int) func(context.Context, *bench) ([]sample, error) {
	return func(ctx context.Context, b *bench) ([]sample, error) {
		one := sample{Objects: number, figures: map[figureName]float64{}}
		if err := b.guests(ctx, number, &one); err != nil {
			return nil, err
		}
		floor, err := b.guestFloor(ctx, number)
		if err != nil {
			return nil, fmt.Errorf("measuring the floor: %w", err)
		}
		one.FloorSeconds = floor.Seconds()
		return []sample{one}, nil
	}
}

// guests measures the provider.
func (b *bench) guests(ctx context.Context, number int, one *sample) (err error) {
	world, err := capiworld.Start(ctx, capiworld.Options{Bin: b.bin, Direct: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	g := &guests{World: world, bench: b}
	for _, part := range []func(context.Context, int, *sample) error{g.keysAhead, g.install, g.rest, g.step, g.restart} {
		if err := part(ctx, number, one); err != nil {
			return fmt.Errorf("%w\n%s", err, world.Tell(context.WithoutCancel(ctx)))
		}
	}
	return nil
}

// keysAhead waits for the provider's stock of keys, since the floor has its keys, too. With few guests, whose ratio has no target, keys are
// made during the installation.
func (g *guests) keysAhead(ctx context.Context, number int, _ *sample) error {
	if number < many {
		return nil
	}
	return g.stocked(ctx)
}

// stocked waits until the provider has filled its stock of keys once more.
func (g *guests) stocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stockedWithin, fmt.Errorf("%s is too long", stockedWithin))
	defer cancel()
	g.filled++
	return harness.Eventually(ctx, "keys to be made ahead", func(context.Context) error {
		log, err := os.ReadFile(g.Manager(capiworld.Provider).Log)
		if err != nil {
			return fmt.Errorf("reading the log of the provider: %w", err)
		}
		if told := strings.Count(string(log), "Keys are made ahead"); told < g.filled {
			return fmt.Errorf("the provider has filled its stock %d times", told)
		}
		return nil
	})
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
	all, err := busyAltogether()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := g.ask(ctx, number, image); err != nil {
		return err
	}
	if err := g.installed(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	one.Seconds = (took - bootedWell).Seconds()
	busy, err := busyAltogether()
	if err != nil {
		return err
	}
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
	one.figures[guestsTime] = took.Seconds()
	one.figures[guestRequests], one.figures[guestWrites] = float64(one.Requests)/clusters, float64(one.Writes)/clusters
	one.figures[guestProcessor] = (after - before) / clusters
	g.bench.say("%d clusters in %.0f s: a cluster takes %d requests, of which %d writes, and %.2f s of the processor; all that runs took %.0f s of it",
		number, took.Seconds(), one.Requests/number, one.Writes/number, (after-before)/clusters, (busy - all).Seconds())
	g.bench.say("  requests: %s", tally(own))
	where, err := g.passages(ctx, began)
	if err != nil {
		return err
	}
	g.bench.say("  states: %s", where)
	one.RSSMiB, err = peakMiB(pid)
	return err
}

// ask asks for guests.
func (g *guests) ask(ctx context.Context, number int, image string) error {
	for i := range number {
		asked := g.Ask(guestKey(i), guestReplicas, image, "")
		tellsImage(asked, "", image)
		g.asked = append(g.asked, asked)
		if err := g.CreateNamespace(ctx, asked.Key.Namespace); err != nil {
			return err
		}
		if err := g.Create(ctx, asked.Objects()...); err != nil {
			return err
		}
	}
	return nil
}

// tellsImage has a guest tell the image that it has, and its ID, as every cluster does; held are the steps that it does not take yet.
func tellsImage(asked *capiworld.Asked, held, image string) {
	asked.DevCluster.SetAnnotations(map[string]string{
		capiworld.HoldAnnotation: held, capiworld.ReleaseAnnotation: release + " " + image, capiworld.IDAnnotation: asked.Key.Name + "-ignition-master",
	})
}

// guestKey is the cluster of a number.
func guestKey(number int) capiworld.Key {
	return capiworld.Key{Namespace: fmt.Sprintf("guests-%d", number), Name: "one"}
}

// installed waits until every guest is.
func (g *guests) installed(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, guestsPatience, fmt.Errorf("%s is too long", guestsPatience))
	defer cancel()
	waiting := slices.Clone(g.asked)
	for len(waiting) > 0 {
		s, err := g.Standing(ctx, waiting[0].Key)
		if err == nil {
			err = s.Is("Installed")
		}
		if err == nil {
			waiting = waiting[1:]
			continue
		}
		// To ask again and again would slow the provider down.
		if ended := errors.Join(g.Alive(), wait(ctx, guestsAskedEvery)); ended != nil {
			return fmt.Errorf("%s, and %d others, are not Installed: %w: %w", waiting[0].Key, len(waiting)-1, err, ended)
		}
	}
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
