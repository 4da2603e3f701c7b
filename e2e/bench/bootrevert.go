package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// reverting measures how soon a boot image is put right that somebody has set back to that of the release before, from the
// answer to the edit to the moment at which a watch shows the golden one. Each run reverts another target: one that does not
// keep its image is left alone.
func reverting(ctx context.Context, b *bench) ([]sample, error) {
	w := bootWorld{machineAPI: 1000}
	var samples []sample
	return samples, b.settledOnce(ctx, w, func(s *stage, metrics *harness.Metrics) error {
		if err := s.nextRelease(ctx); err != nil {
			return err
		}
		if _, err := s.moved(ctx, w, func(ctx context.Context) error { return s.goes(ctx, configv1.CompletedUpdate) }); err != nil {
			return err
		}
		if err := wait(ctx, restAfter); err != nil {
			return err
		}
		for run := range b.runs {
			one := sample{Objects: w.targets()}
			if err := s.revert(ctx, metrics, &one, fmt.Sprintf("worker-%d", run)); err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			b.say("run %d of %d: %.3f s, %d requests, %d passes", run+1, b.runs, one.Seconds, one.Requests, one.passes)
			samples = append(samples, one)
		}
		return nil
	})
}

// nextRelease has the cluster be on its way to release 2.
func (s *stage) nextRelease(ctx context.Context) error {
	return errors.Join(s.goes(ctx, configv1.PartialUpdate), s.moving.SetGolden(ctx, 2))
}

func (s *stage) revert(ctx context.Context, metrics *harness.Metrics, one *sample, set string) error {
	before, err := s.bootMeters(ctx, metrics, targetsMachine)
	if err != nil {
		return err
	}
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	began, err := s.setBack(ctx, set)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the old image stays"))
	defer cancel()
	err = s.watch(bounded, setsPath, url.Values{"fieldSelector": {"metadata.name=" + set}}, func(i item) bool { return strings.Contains(string(i.Spec), bootworld.AMI(2)) })
	if err != nil {
		return err
	}
	one.Seconds = time.Since(began).Seconds()
	if err := wait(ctx, restAfter); err != nil {
		return err
	}
	all, err := s.requests(ctx, mark)
	if err != nil {
		return err
	}
	after, err := s.bootMeters(ctx, metrics, targetsMachine)
	if err != nil {
		return err
	}
	one.passes = int(after.passes - before.passes)
	return s.costs(one, withoutLease(all).Where(func(r cluster.Request) bool { return r.Verb != "watch" }))
}

// setBack gives a set the image of release 1 as an administrator would, and returns when that was done.
func (s *stage) setBack(ctx context.Context, set string) (time.Time, error) {
	administrator, err := s.administrator()
	if err != nil {
		return time.Time{}, err
	}
	edit := fmt.Appendf(nil, `{"spec":{"template":{"spec":{"providerSpec":{"value":{"ami":{"id":%q}}}}}}}`, bootworld.AMI(1))
	_, err = administrator.send(ctx, http.MethodPatch, setsPath+"/"+set, "application/merge-patch+json", edit)
	return time.Now(), err
}
