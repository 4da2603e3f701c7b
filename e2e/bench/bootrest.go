package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// manyTargets are of both APIs.
var manyTargets = bootWorld{machineAPI: 700, clusterAPI: 300}

// toldAfter is when a start with targets is over and done with: their sums are told after 15 seconds at the latest, and what happened
// then is in the flight recorder up to ten seconds later, without a pass.
const toldAfter = 30 * time.Second

// settledOnce runs measurements on one control plane whose targets are all Current, and whose operator has nothing left to do.
func (b *bench) settledOnce(ctx context.Context, w bootWorld, measure func(*stage, *harness.Metrics) error) error {
	return b.onBootImages(ctx, w, func(s *stage) error {
		metrics, err := s.NewMetrics()
		if err != nil {
			return err
		}
		if err := s.operateBootImages(ctx, metrics, w); err != nil {
			return err
		}
		if err := wait(ctx, toldAfter); err != nil {
			return err
		}
		return measure(s, metrics)
	})
}

// restingTargets counts what an operator sends when nothing happens to its targets. Once is enough: a request that is not due in
// two minutes of rest is none of it.
func restingTargets(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.settledOnce(ctx, manyTargets, func(s *stage, _ *harness.Metrics) error {
		mark, err := s.Cluster.Mark(ctx)
		if err != nil {
			return err
		}
		b.say("resting for %s", restFor)
		if err := wait(ctx, restFor); err != nil {
			return err
		}
		all, err := s.requests(ctx, mark)
		if err != nil {
			return err
		}
		samples = append(samples, sample{Objects: manyTargets.targets(), Seconds: restFor.Seconds()})
		return s.costs(&samples[0], withoutLease(all).Where(func(r cluster.Request) bool { return r.Verb != "watch" }))
	})
}

// noising measures what edits cost that have nothing to do with boot images, three of every target in a run: other replicas, a
// field manager more, and another status. The time is that of the processor for one, all that the process does meanwhile
// included.
func noising(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.settledOnce(ctx, manyTargets, func(s *stage, metrics *harness.Metrics) error {
		administrator, err := s.administrator()
		if err != nil {
			return err
		}
		for run := range b.runs {
			one := sample{Objects: manyTargets.targets()}
			before, err := s.bootMeters(ctx, metrics, targetsMachine, gateMachine)
			if err != nil {
				return err
			}
			mark, err := s.Cluster.Mark(ctx)
			if err != nil {
				return err
			}
			edits, err := administrator.noise(ctx, run)
			if err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			if err := wait(ctx, aftermath); err != nil {
				return err
			}
			all, err := s.requests(ctx, mark)
			if err != nil {
				return err
			}
			after, err := s.bootMeters(ctx, metrics, targetsMachine, gateMachine)
			if err != nil {
				return err
			}
			one.Seconds, one.passes = (after.cpu-before.cpu)/float64(edits), int(after.passes-before.passes)
			if err := s.costs(&one, withoutLease(all).Where(func(r cluster.Request) bool { return r.Verb != "watch" })); err != nil {
				return err
			}
			b.say("run %d of %d: %.3f ms of the processor for each of %d edits, %d passes", run+1, b.runs, one.Seconds*1000, edits, one.passes)
			samples = append(samples, one)
		}
		return nil
	})
}

// noise makes the edits of a run, and returns how many.
func (c *bare) noise(ctx context.Context, run int) (edits int, err error) {
	for _, path := range []string{setsPath, capiSetsPath} {
		sets, err := c.list(ctx, path)
		if err != nil {
			return 0, err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		version, kind := "machine.openshift.io/v1beta1", "MachineSet"
		if path == capiSetsPath {
			version = "cluster.x-k8s.io/v1beta2"
		}
		replicas := run + 2
		for _, set := range sets {
			one := path + "/" + set.Metadata.Name
			merge := "application/merge-patch+json"
			same := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"spec":{"replicas":%d}}`, version, kind, replicas)
			group.Go(func() error {
				for _, w := range []writing{
					{http.MethodPatch, one, merge, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)},
					{http.MethodPatch, one + fmt.Sprintf("?force=true&fieldManager=noise-%d", run), "application/apply-patch+yaml", same},
					{http.MethodPatch, one + "/status", merge, fmt.Appendf(nil, `{"status":{"replicas":%d,"readyReplicas":%[1]d,"availableReplicas":%[1]d}}`, replicas)},
				} {
					if _, err := c.send(ctx, w.method, w.path, w.contentType, w.body); err != nil {
						return err
					}
				}
				return nil
			})
			edits += 3
		}
		if err := group.Wait(); err != nil {
			return 0, err
		}
	}
	return edits, nil
}

// The machines of boot images: the one of targets, and the one that lets them move.
const targetsMachine, gateMachine = "bootimage", "bootgate"

// bootMeters are the operator's, of the passes of some machines.
func (s *stage) bootMeters(ctx context.Context, metrics *harness.Metrics, machines ...string) (meters, error) {
	text, err := metrics.Text(ctx)
	if err != nil {
		return meters{}, err
	}
	m := meters{cpu: sumOf(text, "process_cpu_seconds_total")}
	for _, machine := range machines {
		m.passes += sumOf(text, "controller_runtime_reconcile_total", fmt.Sprintf("controller=%q", machine))
	}
	return m, nil
}
