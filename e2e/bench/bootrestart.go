package main

import (
	"context"
	"time"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// restartingTargets measures starts of an operator that finds every target as it should be. It is at work once it has asked for
// all it needs, and knows of every target that it is Current. After each run one is started without boot images, whose requests
// are those of everything else; it takes what is told of boot images away, which the next one that moves them tells again.
func restartingTargets(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.settledOnce(ctx, manyTargets, func(s *stage, metrics *harness.Metrics) error {
		withImages := func() error { return s.operateBootImages(ctx, metrics, manyTargets) }
		for run := range b.runs {
			if run > 0 {
				if _, _, err := s.restart(ctx, withImages); err != nil {
					return err
				}
			}
			all, seconds, err := s.restart(ctx, withImages)
			if err != nil {
				return err
			}
			one := sample{Objects: manyTargets.targets(), Seconds: seconds}
			if err := s.costs(&one, withoutLease(all)); err != nil {
				return err
			}
			without, _, err := s.restart(ctx, func() error { return s.operate(metrics.Arguments()...) })
			if err != nil {
				return err
			}
			one.without = len(withoutLease(without))
			b.say("run %d of %d: %.2f s, %d requests, of which %d without boot images, %d writes", run+1, b.runs, one.Seconds, one.Requests, one.without, one.Writes)
			samples = append(samples, one)
		}
		return nil
	})
}

// restart stops the operator and starts one, and returns its requests, and how long it took until the start was over and the
// last of them was sent. What its metrics cost while they are asked for targets is left out.
func (s *stage) restart(ctx context.Context, start func() error) (all cluster.RequestList, seconds float64, err error) {
	if err := s.operator.Stop(); err != nil {
		return nil, 0, err
	}
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := start(); err != nil {
		return nil, 0, err
	}
	seconds = time.Since(s.operator.Started).Seconds()
	if err := wait(ctx, restartAftermath); err != nil {
		return nil, 0, err
	}
	all, err = s.requests(ctx, mark)
	all = all.Except("authentication.k8s.io", "tokenreviews").Except("authorization.k8s.io", "subjectaccessreviews")
	if asked := withoutLease(all); len(asked) > 0 {
		seconds = max(seconds, asked[len(asked)-1].Time.Sub(s.operator.Started).Seconds())
	}
	return all, seconds, err
}
