package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// loadClients ask at once, each one request after the other.
	loadClients = 16
	// loadRounds is how many turns each arm has in a run, and loadTurn how long one is.
	loadRounds, loadTurn = 5, time.Second
)

var throughput = figureName{what: "requests in the same time, times the direct ones", least: true}

// load is a request that many clients make at once.
type load struct {
	proxied
	least float64
}

// loadScenarios are those of how much goes through.
func loadScenarios() []scenario {
	var all []scenario
	for _, one := range []struct {
		name, doc string
		load
	}{
		{"get", "reads", load{proxied{method: http.MethodGet, path: "/machine-CLIENT", objects: loadClients}, 0.7}},
		{"patch", "merge patches", load{proxied{
			method: http.MethodPatch, contentType: "application/merge-patch+json", path: "/machine-CLIENT", body: `{"metadata":{"annotations":{"turn":"TURN"}}}`, objects: loadClients,
		}, 0.9}},
	} {
		all = append(all, scenario{
			"capi-proxy-throughput-" + one.name, fmt.Sprintf("%s of Machines of 4 KiB by %d clients at once, by capi-proxy", one.doc, loadClients),
			[]target{atLeast(throughput, one.least)},
			one.measure,
		})
	}
	return all
}

// measure has each arm loaded in turns, and counts what was answered.
func (l load) measure(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.proxying(ctx, func(w *ways) error {
		if err := w.fill(ctx, l.objects); err != nil {
			return err
		}
		for run := range b.runs {
			var done [arms]float64
			for round := range loadRounds {
				for i := range arms {
					arm := (i + round) % arms
					rate, err := l.turn(ctx, w, arm, fmt.Sprintf("%d-%d", run, round))
					if err != nil {
						return fmt.Errorf("run %d: %w", run+1, err)
					}
					done[arm] += rate / loadRounds
				}
			}
			b.say("run %d of %d: %.0f, %.0f, %.0f requests a second, direct, copied, translated", run+1, b.runs, done[straight], done[copied], done[translated])
			samples = append(samples, sample{Objects: l.objects, figures: ofProxies(func(arm int) map[figureName]float64 {
				return map[figureName]float64{throughput: done[arm] / done[straight]}
			})})
		}
		return nil
	})
}

// turn loads an arm for a while, and returns how many requests a second were answered.
func (l load) turn(ctx context.Context, w *ways, arm int, name string) (float64, error) {
	group, ctx := errgroup.WithContext(ctx)
	var answered atomic.Int64
	began := time.Now()
	for client := range loadClients {
		group.Go(func() error {
			for turn := 0; time.Since(began) < loadTurn; turn++ {
				named := saying(arm, "CLIENT", fmt.Sprint(client), "TURN", fmt.Sprintf("%s-%d-%d", name, arm, turn))
				if _, err := w.through[arm].send(ctx, l.method, named.Replace(machinesOf+l.path), l.contentType, []byte(named.Replace(l.body))); err != nil {
					return err
				}
				answered.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	return float64(answered.Load()) / time.Since(began).Seconds(), err
}
