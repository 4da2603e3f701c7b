package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// longList is how many Machines the long list has, longLists how often each arm asks for it in a run.
	longList, longLists = 10_000, 5
)

var (
	listRatio  = figureName{what: "time of the middle list, times the direct one"}
	listLate   = figureName{what: "first byte of the middle list after the direct one", unit: " ms", clock: true}
	listMemory = figureName{what: "memory at the peak beyond that before", unit: " MiB"}
)

// listing measures a list of 40 MB.
func listing(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.proxying(ctx, func(w *ways) error {
		if err := w.fill(ctx, longList); err != nil {
			return err
		}
		for run := range b.runs {
			one, err := w.list(ctx)
			if err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			b.say("run %d of %d: %.2f s, direct %.2f s; first byte %.1f ms later; %.1f MiB more",
				run+1, b.runs, one.Seconds, one.FloorSeconds, one.figures[listLate], one.figures[listMemory])
			samples = append(samples, one)
		}
		return nil
	})
}

// list lists by all arms in turns. The first turn does not count.
func (w *ways) list(ctx context.Context) (sample, error) {
	before, err := residentMiB(w.proxy.PID())
	if err != nil {
		return sample{}, err
	}
	var firsts, wholes [arms][]time.Duration
	for turn := range longLists + 1 {
		for i := range arms {
			arm := (i + turn) % arms
			first, whole, err := w.through[arm].readAll(ctx, saying(arm).Replace(machinesOf))
			if err != nil {
				return sample{}, err
			}
			if turn > 0 {
				firsts[arm], wholes[arm] = append(firsts[arm], first), append(wholes[arm], whole)
			}
		}
	}
	peak, err := peakMiB(w.proxy.PID())
	if err != nil {
		return sample{}, err
	}
	w.bench.say("  whole %s, first byte %s, direct, copied, translated", each(wholes, middle), each(firsts, middle))
	of := func(all [arms][]time.Duration, arm int) float64 { return quantile(all[arm], middle).Seconds() }
	figures := ofProxies(func(arm int) map[figureName]float64 {
		return map[figureName]float64{
			listRatio: of(wholes, arm) / of(wholes, straight),
			listLate:  1e3 * (of(firsts, arm) - of(firsts, straight)),
		}
	})
	figures[listMemory] = peak - before
	return sample{Objects: longList, Seconds: of(wholes, translated), FloorSeconds: of(wholes, straight), RSSMiB: peak, figures: figures}, nil
}

// readAll reads an answer to its end, and tells when its first byte and its last one were there.
func (c *bare) readAll(ctx context.Context, path string) (first, whole time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+path, http.NoBody)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, 1)); err != nil || response.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("listing %s: %s (%w)", path, response.Status, err)
	}
	first = time.Since(began)
	_, err = io.CopyBuffer(io.Discard, onlyReader{response.Body}, make([]byte, 64<<10))
	return first, time.Since(began), err
}

// onlyReader has it read in pieces of the reader's choice.
type onlyReader struct{ io.Reader }
