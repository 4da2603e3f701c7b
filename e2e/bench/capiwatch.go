package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// openWatches are held open; settle is how long they rest before memory is read:
	// a few times what the proxy waits for before it gives memory back.
	openWatches, settle = 500, 8 * time.Second
	// delayWatchers see every event of delayTurn, of which there is one each eventEvery; each arm has delayRounds turns in a run.
	delayWatchers, delayTurn, eventEvery, delayRounds = 50, 3 * time.Second, 10 * time.Millisecond, 3
)

var (
	watchMemory = figureName{what: "memory of a watch", unit: " KiB"}
	watchDelay  = figureName{what: "the 95th of 100 events beyond direct ones", unit: " ms", clock: true}
	watchHalf   = figureName{what: "half of the events beyond direct ones", unit: " ms", clock: true}
)

// openEvents begins a watch, and calls seen with each event until the context ends.
func (c *bare) openEvents(ctx context.Context, path string, opened func(), seen func([]byte)) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+path+"?watch=true", http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	lines := bufio.NewReaderSize(response.Body, 2*machineSize)
	for first := true; ; first = false {
		line, err := lines.ReadSlice('\n')
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		if first {
			opened()
			continue
		}
		seen(line)
	}
}

// watching holds many watches open by an arm while a function runs. Each has seen its first event before, which is the Machine that
// is there.
func (w *ways) watching(ctx context.Context, arm, count int, seen func([]byte), during func(context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	group, ctx := errgroup.WithContext(ctx)
	var opened sync.WaitGroup
	opened.Add(count)
	for range count {
		group.Go(func() error {
			return w.through[arm].openEvents(ctx, saying(arm).Replace(machinesOf), opened.Done, seen)
		})
	}
	group.Go(func() error {
		defer end()
		all := make(chan struct{})
		go func() {
			opened.Wait()
			close(all)
		}()
		select {
		case <-all:
			return during(ctx)
		case <-ctx.Done():
			return nil
		}
	})
	return group.Wait()
}

// holding measures what watches cost that are open.
func holding(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	for run := range b.runs {
		err := b.proxying(ctx, func(w *ways) error {
			if err := w.fill(ctx, 1); err != nil {
				return err
			}
			before, err := w.warm(ctx)
			if err != nil {
				return err
			}
			return w.watching(ctx, translated, openWatches, func([]byte) {}, func(ctx context.Context) error {
				if err := wait(ctx, settle); err != nil {
					return err
				}
				after, err := residentMiB(w.proxy.PID())
				each := (after - before) * 1024 / openWatches
				b.say("run %d of %d: %.1f MiB before, %.1f MiB with %d watches: %.1f KiB each", run+1, b.runs, before, after, openWatches, each)
				samples = append(samples, sample{RSSMiB: after, figures: map[figureName]float64{watchMemory: each}})
				return err
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// warm makes a few requests, and returns what the proxy has resident then.
func (w *ways) warm(ctx context.Context) (float64, error) {
	for range warmups {
		if _, err := w.through[translated].send(ctx, http.MethodGet, saying(translated).Replace(machinesOf), "", nil); err != nil {
			return 0, err
		}
	}
	if err := wait(ctx, settle); err != nil {
		return 0, err
	}
	return residentMiB(w.proxy.PID())
}

// delaying measures how long after it was sent a write is seen by who watches, in turns straight and by proxies.
func delaying(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.proxying(ctx, func(w *ways) error {
		if err := w.fill(ctx, 1); err != nil {
			return err
		}
		for run := range b.runs {
			var took [arms][]time.Duration
			for round := range delayRounds {
				for i := range arms {
					arm := (i + round) % arms
					more, err := w.delays(ctx, arm)
					if err != nil {
						return fmt.Errorf("run %d: %w", run+1, err)
					}
					took[arm] = append(took[arm], more...)
				}
			}
			b.say("run %d of %d: middle %s, 95th %s, direct, copied, translated", run+1, b.runs, each(took, middle), each(took, p95))
			of := func(arm int, part float64) float64 { return quantile(took[arm], part).Seconds() }
			samples = append(samples, sample{FloorSeconds: of(straight, p95), Seconds: of(translated, p95), figures: ofProxies(func(arm int) map[figureName]float64 {
				return map[figureName]float64{
					watchDelay: 1e3 * (of(arm, p95) - of(straight, p95)), watchHalf: 1e3 * (of(arm, middle) - of(straight, middle)),
				}
			})})
		}
		return nil
	})
}

// turnMark is before the number of a write in an event.
var turnMark = []byte(`"turn":"`)

// delays has a Machine written again and again, and returns how long after each write each watcher of an arm saw it.
func (w *ways) delays(ctx context.Context, arm int) ([]time.Duration, error) {
	writes := int(delayTurn / eventEvery)
	sent := make([]time.Time, writes)
	var mutex sync.Mutex
	var took []time.Duration
	seen := func(event []byte) {
		now := time.Now()
		at := bytes.Index(event, turnMark)
		if at < 0 {
			return
		}
		digits, _, _ := bytes.Cut(event[at+len(turnMark):], []byte(`"`))
		mutex.Lock()
		defer mutex.Unlock()
		if turn, err := strconv.Atoi(string(digits)); err == nil && turn < writes {
			took = append(took, now.Sub(sent[turn]))
		}
	}
	err := w.watching(ctx, arm, delayWatchers, seen, func(ctx context.Context) error {
		every := time.NewTicker(eventEvery)
		defer every.Stop()
		for turn := range writes {
			<-every.C
			mutex.Lock()
			sent[turn] = time.Now()
			mutex.Unlock()
			body := fmt.Appendf(nil, `{"metadata":{"annotations":{"turn":"%d"}}}`, turn)
			if _, err := w.through[straight].send(ctx, http.MethodPatch, saying(straight).Replace(machinesOf)+"/machine-0", "application/merge-patch+json", body); err != nil {
				return err
			}
		}
		return wait(ctx, 10*eventEvery)
	})
	mutex.Lock()
	defer mutex.Unlock()
	if err == nil && len(took) < writes*delayWatchers*9/10 {
		return nil, fmt.Errorf("of %d events for each of %d watchers only %d were seen", writes, delayWatchers, len(took))
	}
	return took, err
}
