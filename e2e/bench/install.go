package main

import (
	"context"
	"fmt"
	"time"
)

// installing measures an installation onto an empty cluster, and the floor of
// it in the same run, each on a control plane of its own. Which goes first
// alternates, so that neither always finds the machine warm.
func installing(of maker) func(context.Context, *bench) ([]sample, error) {
	return func(ctx context.Context, b *bench) ([]sample, error) {
		content, err := of(ctx, b)
		if err != nil {
			return nil, err
		}
		if err := b.within(ctx, func(s *stage) error { return s.fetch(ctx, content) }); err != nil {
			return nil, err
		}
		var samples []sample
		for run := 0; !b.enough(samples); run++ {
			one := sample{Objects: content.objects()}
			floor := func(s *stage) error { return s.floorInto(ctx, &one, content) }
			capstan := func(s *stage) error { return s.installInto(ctx, &one, content) }
			turns := []func(*stage) error{floor, capstan}
			for turn := range turns {
				if err := b.within(ctx, turns[(turn+run)%len(turns)]); err != nil {
					return nil, fmt.Errorf("run %d: %w", run+1, err)
				}
			}
			b.say("run %d: %.2f s, the floor %.2f s, %d requests, %.0f MiB", run+1, one.Seconds, one.FloorSeconds, one.Requests, one.RSSMiB)
			samples = append(samples, one)
		}
		return samples, nil
	}
}

func (s *stage) floorInto(ctx context.Context, one *sample, c content) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the floor takes more than %s", patience))
	defer cancel()
	took, err := s.floor(ctx, c.components)
	one.FloorSeconds = took.Seconds()
	return err
}

func (s *stage) installInto(ctx context.Context, one *sample, c content) error {
	if err := s.world(ctx, c); err != nil {
		return err
	}
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	if err := s.operate(); err != nil {
		return err
	}
	at, err := s.installed(ctx, s.operator.Started)
	if err != nil {
		return err
	}
	one.Seconds = at.Sub(s.operator.Started).Seconds()
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	all, err := s.requests(ctx, mark)
	if err != nil {
		return err
	}
	return s.costs(one, all)
}

// restartAftermath is longer than the time for which an operator that was just
// started keeps words and counts to itself.
const restartAftermath = 8 * time.Second

// restarting measures starts of an operator that finds everything installed. It
// is at work once it has asked for all it needs: the time is that of its last request.
func restarting(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	err := b.installedOnce(ctx, func(s *stage, c content) error {
		if err := wait(ctx, restAfter); err != nil {
			return err
		}
		for run := range b.runs {
			if err := s.operator.Stop(); err != nil {
				return err
			}
			mark, err := s.Cluster.Mark(ctx)
			if err != nil {
				return err
			}
			if err := s.operate(); err != nil {
				return err
			}
			if err := wait(ctx, restartAftermath); err != nil {
				return err
			}
			all, err := s.requests(ctx, mark)
			if err != nil {
				return err
			}
			one := sample{Objects: c.objects()}
			if asked := withoutLease(all); len(asked) > 0 {
				one.Seconds = asked[len(asked)-1].Time.Sub(s.operator.Started).Seconds()
			}
			if err := s.costs(&one, all); err != nil {
				return err
			}
			b.say("run %d of %d: %.2f s, %d requests, %d writes", run+1, b.runs, one.Seconds, one.Requests, one.Writes)
			samples = append(samples, one)
		}
		return nil
	})
	return samples, err
}

// installedOnce runs measurements on one control plane with core and AWS installed.
func (b *bench) installedOnce(ctx context.Context, measure func(*stage, content) error) error {
	c, err := realContent(coreAWS)(ctx, b)
	if err != nil {
		return err
	}
	return b.within(ctx, func(s *stage) error {
		if err := s.install(ctx, c); err != nil {
			return err
		}
		return measure(s, c)
	})
}
