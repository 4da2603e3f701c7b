package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
)

const (
	// admissionWrites is how often each write is made in a run.
	admissionWrites = 500
	// warmups are made before, and not counted.
	warmups = 10
	// objectDefinition is the size in KiB of the definition whose objects are written, and objectSize that of each.
	objectDefinition, objectSize = 300, 20
)

// quantiles of the writes of a run.
const (
	middle = 0.5
	p99    = 0.99
)

// subject is a definition of the bench, and the group of its kind. Nobody has a requirement of the other one.
const (
	subject = "subject.bench.capstan.io"
	other   = "other.bench.capstan.io"
)

// admission is a write, and what the checker may add to it.
type admission struct {
	// kib is the size of both definitions.
	kib           int
	crds, objects requirementsv1alpha1.CRDAdmitAction
	quantile      float64
	// asks says that the API server asks the checker of each write; otherwise it never does.
	asks  bool
	write func(ctx context.Context, c *bare, turn int) error
}

// admitting measures a write with the checker beside the same write without: the floor has a control plane of its own that has
// no checker, and both take turns at each write, so that whatever slows the machine down slows both down. The time is a
// quantile of all writes of a run.
func (a admission) admitting(ctx context.Context, b *bench) ([]sample, error) {
	needed, err := boxes(subject, a.kib)
	if err != nil {
		return nil, err
	}
	unlisted, err := boxes(other, a.kib)
	if err != nil {
		return nil, err
	}
	r, err := requirement("bench", needed, a.crds, a.objects)
	if err != nil {
		return nil, err
	}
	definitions := []map[string]any{needed, unlisted}
	var samples []sample
	return samples, b.checked(ctx, definitions, func(_ *stage, floor *bare) error {
		return b.checked(ctx, definitions, func(s *stage, administrator *bare) (err error) {
			c, err := s.check(ctx, r)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.close(ctx)) }()
			for run := range b.runs {
				one, err := a.turns(ctx, floor, administrator, run)
				if err != nil {
					return fmt.Errorf("run %d: %w", run+1, err)
				}
				b.say("run %d of %d: %.1f ms, the floor %.1f ms, %d questions; of half of the writes %.1f ms, the floor %.1f ms",
					run+1, b.runs, one.Seconds*1000, one.FloorSeconds*1000, one.questions, one.half.Seconds()*1000, one.floorHalf.Seconds()*1000)
				if err := s.checkerCosts(c, &one, nil); err != nil {
					return err
				}
				samples = append(samples, one)
			}
			return nil
		})
	})
}

// turns makes all writes of a run.
func (a admission) turns(ctx context.Context, floor, checked *bare, run int) (sample, error) {
	var took [2][]time.Duration
	var before int
	for turn := range admissionWrites + warmups {
		if turn == warmups {
			var err error
			if before, err = checked.questions(ctx); err != nil {
				return sample{}, err
			}
		}
		for i, client := range []*bare{floor, checked} {
			one, err := timed(func() error { return a.write(ctx, client, run*(admissionWrites+warmups)+turn) })
			if err != nil {
				return sample{}, err
			}
			if turn >= warmups {
				took[i] = append(took[i], one)
			}
		}
	}
	after, err := checked.questions(ctx)
	if err != nil {
		return sample{}, err
	}
	if a.asks && after-before < admissionWrites {
		return sample{}, fmt.Errorf("of %d writes the checker was asked only %d times", admissionWrites, after-before)
	}
	return sample{
		FloorSeconds: quantile(took[0], a.quantile).Seconds(), Seconds: quantile(took[1], a.quantile).Seconds(), questions: after - before,
		floorHalf: quantile(took[0], middle), half: quantile(took[1], middle),
	}, nil
}

// quantile is the shortest time that this part of all does not exceed.
func quantile(all []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*part))]
}

// asked finds in an API server's metrics how often it has asked a webhook of the checker about a write.
var asked = regexp.MustCompile(`(?m)^apiserver_admission_webhook_request_total\{[^}]*name="[^"]*(?:crds|objects|prune)\.capstan\.openshift\.io"[^}]*\} (\S+)$`)

// questions is how often the API server has asked the checker about definitions and objects.
func (c *bare) questions(ctx context.Context) (int, error) {
	text, err := c.send(ctx, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, found := range asked.FindAllSubmatch(text, -1) {
		value, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return 0, fmt.Errorf("reading the metrics of the API server: %w", err)
		}
		total += value
	}
	return int(total), nil
}

func describing(definition string) func(context.Context, *bare, int) error {
	return func(ctx context.Context, c *bare, turn int) error { return c.describe(ctx, "boxes."+definition, turn) }
}

func labelling(ctx context.Context, c *bare, turn int) error {
	return c.label(ctx, "boxes."+subject, turn)
}

func creating(ctx context.Context, c *bare, turn int) error {
	return c.create(ctx, boxesPath, box(subject, fmt.Sprintf("box-%d", turn), objectSize))
}

const boxesPath = "/apis/" + subject + "/v1/namespaces/default/boxes"

// firsts measures the first write of an object after the checker was started again and is ready: nothing is compiled then.
func firsts(ctx context.Context, b *bench) ([]sample, error) {
	needed, err := boxes(subject, objectDefinition)
	if err != nil {
		return nil, err
	}
	r, err := requirement("bench", needed, "", deny)
	if err != nil {
		return nil, err
	}
	var samples []sample
	return samples, b.checked(ctx, []map[string]any{needed}, func(s *stage, administrator *bare) (err error) {
		c, err := s.check(ctx, r)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close(ctx)) }()
		for run := range b.runs {
			if err := errors.Join(c.Stop(), c.Start()); err != nil {
				return err
			}
			if err := c.reached(ctx); err != nil {
				return err
			}
			took, err := timed(func() error { return creating(ctx, administrator, run) })
			if err != nil {
				return err
			}
			one := sample{Seconds: took.Seconds()}
			b.say("run %d of %d: %.0f ms", run+1, b.runs, one.Seconds*1000)
			if err := s.checkerCosts(c, &one, nil); err != nil {
				return err
			}
			samples = append(samples, one)
		}
		return nil
	})
}
