package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// manyRequirements share the definitions evenly, each of which is live; an API server with a definition for each would
	// take more memory than a machine has.
	manyRequirements, manyDefinitions = 200, 8
	manyKiB                           = 1024
	// objectsEvery has every so many of them judge objects, too.
	objectsEvery = 10
	// manyRestFor is how long nothing happens with many requirements.
	manyRestFor = 10 * time.Minute
	// judgeEvery is how often the operator is asked how many requirements it has judged.
	judgeEvery = time.Second / 4
	// manyPatience bounds the wait for all of them.
	manyPatience = 5 * time.Minute
)

// judging measures a start of operator and checker that find many requirements.
func judging(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	for run := range b.runs {
		err := b.many(ctx, func(s *stage, c *checker, one sample, mark cluster.Mark) error {
			all, err := s.bothRequests(ctx, mark)
			if err != nil {
				return err
			}
			if err := s.checkerCosts(c, &one, all); err != nil {
				return err
			}
			b.say("run %d of %d: the checker took requests after %.1f s, all requirements were judged after %.1f s", run+1, b.runs, one.ready, one.Seconds)
			samples = append(samples, one)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", run+1, err)
		}
	}
	return samples, nil
}

// restingMany counts what operator and checker send when nothing happens. Once is enough: a request that is not due every ten
// minutes is none of rest.
func restingMany(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.many(ctx, func(s *stage, c *checker, one sample, _ cluster.Mark) error {
		if err := wait(ctx, restAfter); err != nil {
			return err
		}
		mark, err := s.Cluster.Mark(ctx)
		if err != nil {
			return err
		}
		b.say("resting for %s", manyRestFor)
		if err := wait(ctx, manyRestFor); err != nil {
			return err
		}
		all, err := s.bothRequests(ctx, mark)
		if err != nil {
			return err
		}
		one.Seconds = manyRestFor.Seconds()
		samples = append(samples, one)
		return s.checkerCosts(c, &samples[0], withoutLease(all).Where(func(r cluster.Request) bool { return r.Verb != "watch" }))
	})
}

// many starts operator and checker on a control plane with many requirements, and hands over how long that took, and where the
// audit log was before it.
func (b *bench) many(ctx context.Context, measure func(*stage, *checker, sample, cluster.Mark) error) error {
	var definitions []map[string]any
	for i := range manyDefinitions {
		one, err := boxes(fmt.Sprintf("many%d.bench.capstan.io", i), manyKiB)
		if err != nil {
			return err
		}
		definitions = append(definitions, one)
	}
	return b.checked(ctx, definitions, func(s *stage, _ *bare) (err error) {
		b.say("making %d requirements", manyRequirements)
		for i := range manyRequirements {
			var objects requirementsv1alpha1.CRDAdmitAction
			if i%objectsEvery == 0 {
				objects = deny
			}
			r, err := requirement(fmt.Sprintf("bench-%d", i), definitions[i%manyDefinitions], deny, objects)
			if err != nil {
				return err
			}
			if err := s.Client.Create(ctx, r); err != nil {
				return fmt.Errorf("creating requirement %s: %w", r.Name, err)
			}
		}
		mark, err := s.Cluster.Mark(ctx)
		if err != nil {
			return err
		}
		c, err := s.placed(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close(ctx)) }()
		one, err := s.judged(ctx, c)
		if err != nil {
			return err
		}
		return measure(s, c, one, mark)
	})
}

// judged starts both and waits until the operator counts no requirement in another state than Met.
func (s *stage) judged(ctx context.Context, c *checker) (sample, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, manyPatience, fmt.Errorf("not all requirements are judged after %s", manyPatience))
	defer cancel()
	metrics, err := s.NewMetrics()
	if err != nil {
		return sample{}, err
	}
	arguments, err := c.service.Arguments()
	if err != nil {
		return sample{}, err
	}
	one, began := sample{Objects: manyRequirements}, time.Now()
	if err := errors.Join(c.Start(), s.operate(append(arguments, metrics.Arguments()...)...)); err != nil {
		return sample{}, err
	}
	if err := harness.Eventually(ctx, "the checker to be ready", c.Ready); err != nil {
		return sample{}, err
	}
	one.ready = time.Since(began).Seconds()
	for {
		text, err := metrics.Text(ctx)
		if err == nil && requirementsIn(text, "Met") == manyRequirements {
			one.Seconds = time.Since(began).Seconds()
			return one, nil
		}
		if err := wait(ctx, judgeEvery); err != nil {
			return sample{}, err
		}
	}
}

// requirementsIn is how many requirements the operator's metrics count in a state.
func requirementsIn(text, state string) int {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if rest, is := strings.CutPrefix(lines.Text(), `capstan_machine_state{machine="compatibility",state="`+state+`"} `); is {
			if count, err := strconv.ParseFloat(rest, 64); err == nil {
				return int(count)
			}
		}
	}
	return 0
}
