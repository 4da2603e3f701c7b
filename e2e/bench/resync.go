package main

import (
	"context"
	"fmt"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// resyncEvery is how often the operator looks at everything anew.
	resyncEvery = 10 * time.Minute
	// resyncs are made to measure one, and resyncTakes is far longer than one lasts.
	resyncs     = 10
	resyncTakes = time.Second
)

// resyncing measures what the whole process spends on looking anew at everything
// that it has seen: its clock is advanced to the next resync, again and again.
// What the process spends anyway, the steering of its clock included, is taken
// off; whatever else falls due in ten minutes is counted.
func resyncing(ctx context.Context, b *bench) ([]sample, error) {
	return b.timing(ctx, true, "a resync", (*stage).resync)
}

// resync is the time of the processor for one.
func (s *stage) resync(ctx context.Context, metrics *harness.Metrics) (float64, error) {
	idle, err := s.spends(ctx, metrics, 0)
	if err != nil {
		return 0, err
	}
	busy, err := s.spends(ctx, metrics, resyncEvery)
	if err != nil {
		return 0, err
	}
	if busy.passes < resyncs {
		return 0, fmt.Errorf("%d resyncs made only %.0f passes", resyncs, busy.passes)
	}
	return max(0, busy.cpu-idle.cpu) / resyncs, nil
}

// spends is what the operator's meters count while its clock is advanced so often.
func (s *stage) spends(ctx context.Context, metrics *harness.Metrics, advance time.Duration) (meters, error) {
	before, err := readMeters(ctx, metrics)
	if err != nil {
		return meters{}, err
	}
	for range resyncs {
		if err := s.operator.Advance(advance); err != nil {
			return meters{}, err
		}
		if err := wait(ctx, resyncTakes); err != nil {
			return meters{}, err
		}
	}
	after, err := readMeters(ctx, metrics)
	return meters{passes: after.passes - before.passes, cpu: after.cpu - before.cpu}, err
}
