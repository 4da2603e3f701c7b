package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// proxiedRequests is how often each request is made in a run, proxiedLists how often each list.
	proxiedRequests, proxiedLists = 1000, 200
	// middlingList is how many objects a list of middling length has.
	middlingList = 150
	// fast is for people: what the machine's other work leaves alone.
	fast = 0.1
	p95  = 0.95
)

// The figures of a request by capi-proxy.
var (
	halfAdded       = figureName{what: "half of them beyond direct ones", unit: " us", clock: true}
	halfAddedToCopy = figureName{what: "half of them beyond copied ones", unit: " us", clock: true}
	mostAdded       = figureName{what: "the 95th of 100 beyond direct ones", unit: " ms", clock: true}
	mostRatio       = figureName{what: "the 95th of 100, times the direct one"}
)

// proxied is a request by capi-proxy, beside the same one straight to the API server and by a proxy that copies bytes.
type proxied struct {
	method, contentType string
	// path is below the machines of a namespace, body what is sent; GROUP and TURN are replaced.
	path, body string
	// times is how often it is made in a run, objects how many there are.
	times, objects int
}

// proxyScenarios are those of single requests by the proxy of private Cluster API types.
func proxyScenarios() []scenario {
	limits := []target{atMost(halfAdded, 150), atMost(halfAddedToCopy, 50), atMost(mostAdded, 1)}
	write := append(append([]target(nil), limits...), below(mostRatio, 1.05))
	var all []scenario
	for _, one := range []struct {
		name, doc string
		targets   []target
		proxied
	}{
		{"get", "reads", limits, proxied{http.MethodGet, "", "/machine-0", "", proxiedRequests, 1}},
		{"create", "creations", write, proxied{http.MethodPost, "application/json", "", strings.Replace(machine, "NAME", "m-TURN", 1), proxiedRequests, 1}},
		{"patch", "merge patches", write, proxied{
			http.MethodPatch, "application/merge-patch+json", "/machine-0", `{"metadata":{"annotations":{"turn":"TURN"}}}`, proxiedRequests, 1,
		}},
		{"apply", "applies", write, proxied{
			http.MethodPatch, "application/apply-patch+yaml", "/machine-0?fieldManager=bench&force=true",
			strings.Replace(strings.Replace(machine, "NAME", "machine-0", 1), `"text":"`, `"text":"TURN `, 1), proxiedRequests, 1,
		}},
		{fmt.Sprintf("list-%d", middlingList), fmt.Sprintf("lists of %d", middlingList), []target{below(mostRatio, 1.05)}, proxied{http.MethodGet, "", "", "", proxiedLists, middlingList}},
	} {
		all = append(all, scenario{
			"capi-proxy-" + one.name, fmt.Sprintf("%d %s of a Machine of 4 KiB by capi-proxy", one.times, one.doc), one.targets, one.measure,
		})
	}
	return all
}

// measure makes all requests of all runs on one control plane, the three arms in turns, so that what slows the machine down
// slows down all.
func (p proxied) measure(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.proxying(ctx, func(w *ways) error {
		if err := w.fill(ctx, p.objects); err != nil {
			return err
		}
		for run := range b.runs {
			used, err := processorSeconds(w.proxy.PID())
			if err != nil {
				return err
			}
			took, err := p.turns(ctx, w, run)
			if err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			usedSince, err := processorSeconds(w.proxy.PID())
			if err != nil {
				return err
			}
			one := p.sample(took)
			if one.RSSMiB, err = peakMiB(w.proxy.PID()); err != nil {
				return err
			}
			b.say("run %d of %d: 10th %s, middle %s, 95th %s, direct, copied, translated; %.0f us of the processor for one",
				run+1, b.runs, each(took, fast), each(took, middle), each(took, p95), (usedSince-used)*1e6/float64(p.times+warmups))
			samples = append(samples, one)
		}
		return nil
	})
}

// each is a quantile of every arm, for people.
func each(took [arms][]time.Duration, part float64) string {
	var texts []string
	for _, all := range took {
		texts = append(texts, fmt.Sprintf("%.3f", quantile(all, part).Seconds()*1000))
	}
	return strings.Join(texts, " ") + " ms"
}

// turns makes the requests of a run.
func (p proxied) turns(ctx context.Context, w *ways, run int) (took [arms][]time.Duration, err error) {
	for turn := range p.times + warmups {
		for i := range arms {
			// Who comes after whom changes, so that what one leaves behind is not always the same one's.
			arm := (i + turn) % arms
			named := saying(arm, "TURN", fmt.Sprintf("%d-%d-%d", run, turn, arm))
			path, body := named.Replace(machinesOf+p.path), []byte(named.Replace(p.body))
			one, err := timed(func() error {
				_, err := w.through[arm].send(ctx, p.method, path, p.contentType, body)
				return err
			})
			if err != nil {
				return took, err
			}
			if turn >= warmups {
				took[arm] = append(took[arm], one)
			}
		}
	}
	return took, nil
}

func (p proxied) sample(took [arms][]time.Duration) sample {
	of := func(arm int, part float64) float64 { return quantile(took[arm], part).Seconds() }
	figures := ofProxies(func(arm int) map[figureName]float64 {
		return map[figureName]float64{
			halfAdded: 1e6 * (of(arm, middle) - of(straight, middle)),
			mostAdded: 1e3 * (of(arm, p95) - of(straight, p95)),
			mostRatio: of(arm, p95) / of(straight, p95),
		}
	})
	figures[halfAddedToCopy] = 1e6 * (of(translated, middle) - of(copied, middle))
	return sample{Objects: p.objects, FloorSeconds: of(straight, p95), Seconds: of(translated, p95), figures: figures}
}

// ofProxies are figures of capi-proxy, and those of the proxy that copies beside them.
func ofProxies(of func(arm int) map[figureName]float64) map[figureName]float64 {
	figures := of(translated)
	for name, value := range of(copied) {
		figures[name.ofCopy()] = value
	}
	return figures
}
