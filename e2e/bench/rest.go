package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

const (
	// restFor is how long nothing happens.
	restFor = 2 * time.Minute
	// restAfter is when an installation is over and done with, its last words included.
	restAfter = 10 * time.Second
)

// resting counts what an operator sends when nothing happens. Time is no matter
// here, so that all runs may rest at the same time, each on its own control plane.
func resting(ctx context.Context, b *bench) ([]sample, error) {
	samples := make([]sample, b.runs)
	group, ctx := errgroup.WithContext(ctx)
	for run := range b.runs {
		group.Go(func() error {
			return b.installedOnce(ctx, func(s *stage, c content) error {
				if err := wait(ctx, restAfter); err != nil {
					return err
				}
				mark, err := s.Cluster.Mark(ctx)
				if err != nil {
					return err
				}
				b.say("run %d of %d: resting for %s", run+1, b.runs, restFor)
				if err := wait(ctx, restFor); err != nil {
					return err
				}
				all, err := s.requests(ctx, mark)
				if err != nil {
					return err
				}
				one := &samples[run]
				one.Objects, one.Seconds = c.objects(), restFor.Seconds()
				asked := withoutLease(all).Where(func(r cluster.Request) bool { return r.Verb != "watch" })
				b.say("run %d of %d: %d requests besides its Lease and watches", run+1, b.runs, len(asked))
				return s.costs(one, asked)
			})
		})
	}
	return samples, group.Wait()
}
