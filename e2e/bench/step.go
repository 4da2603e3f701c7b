package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	stepObjects = 5000
	// steps is how many passes are made to measure one; nudgeEvery is far longer than one takes.
	steps      = 200
	nudgeEvery = 25 * time.Millisecond
)

// stepping measures what the whole process spends on a pass in which nothing is
// to be done: an annotation of ClusterAPI, which means nothing to the operator,
// is changed again and again. The watch event that starts the pass is included.
func stepping(ctx context.Context, b *bench) ([]sample, error) {
	return b.timing(ctx, false, "a pass", (*stage).step)
}

// timing installs made-up objects and measures again and again what the process
// of the operator spends on something, whose metrics measure gets.
func (b *bench) timing(ctx context.Context, steered bool, what string, measure func(*stage, context.Context, *harness.Metrics) (float64, error)) ([]sample, error) {
	c, err := syntheticContent(stepObjects)(ctx, b)
	if err != nil {
		return nil, err
	}
	var samples []sample
	return samples, b.within(ctx, func(s *stage) error {
		s.steered = steered
		metrics, err := s.NewMetrics()
		if err != nil {
			return err
		}
		if err := s.install(ctx, c, metrics.Arguments()...); err != nil {
			return err
		}
		if err := wait(ctx, restAfter); err != nil {
			return err
		}
		for run := range b.runs {
			one := sample{Objects: c.objects()}
			mark, err := s.Cluster.Mark(ctx)
			if err != nil {
				return err
			}
			if one.Seconds, err = measure(s, ctx, metrics); err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			all, err := s.requests(ctx, mark)
			if err != nil {
				return err
			}
			if err := s.costs(&one, withoutLease(all)); err != nil {
				return err
			}
			b.say("run %d of %d: %.2f ms of the processor for %s", run+1, b.runs, one.Seconds*1000, what)
			samples = append(samples, one)
		}
		return nil
	})
}

// step is the time of the processor for one pass.
func (s *stage) step(ctx context.Context, metrics *harness.Metrics) (float64, error) {
	before, err := readMeters(ctx, metrics)
	if err != nil {
		return 0, err
	}
	for step := range steps {
		if err := s.nudge(ctx, step); err != nil {
			return 0, err
		}
		if err := wait(ctx, nudgeEvery); err != nil {
			return 0, err
		}
	}
	after, err := readMeters(ctx, metrics)
	if err != nil {
		return 0, err
	}
	if after.passes-before.passes < steps/2 {
		return 0, fmt.Errorf("%d changes of ClusterAPI made only %.0f passes", steps, after.passes-before.passes)
	}
	return (after.cpu - before.cpu) / (after.passes - before.passes), nil
}

func (s *stage) nudge(ctx context.Context, step int) error {
	object := &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"bench.capstan.io/step":"%d"}}}`, step))
	if err := s.Client.Patch(ctx, object, patch, harness.Administrator); err != nil {
		return fmt.Errorf("annotating ClusterAPI %s: %w", harness.Singleton, err)
	}
	return nil
}

// meters are counters of the operator's process.
type meters struct{ passes, cpu float64 }

func readMeters(ctx context.Context, metrics *harness.Metrics) (meters, error) {
	text, err := metrics.Text(ctx)
	if err != nil {
		return meters{}, err
	}
	return parseMeters(strings.NewReader(text))
}

// parseMeters reads lines such as name{label="value"} 12.
func parseMeters(text io.Reader) (meters, error) {
	var m meters
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			continue // a comment
		}
		switch name := lines.Text()[:max(at, 0)]; {
		case strings.HasPrefix(name, "controller_runtime_reconcile_total{") && strings.Contains(name, `controller="clusterapi"`):
			m.passes += value
		case name == "process_cpu_seconds_total":
			m.cpu += value
		}
	}
	if err := lines.Err(); err != nil {
		return m, fmt.Errorf("reading the operator's metrics: %w", err)
	}
	if m.passes == 0 || m.cpu == 0 {
		return m, errors.New("the operator's metrics count no passes, or no time of the processor")
	}
	return m, nil
}

// sumOf adds up the samples of a metric that have these labels.
func sumOf(text, name string, labels ...string) float64 {
	sum := 0.0
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		if at < 0 || line[:min(len(name), at)] != name || !strings.ContainsRune(" {", rune(line[len(name)])) {
			continue
		}
		if slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(line[:at], label) }) {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64); err == nil {
			sum += value
		}
	}
	return sum
}
