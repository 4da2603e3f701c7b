package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

var (
	scannerSpeed = figureName{what: "text in a second of the processor", unit: " MB", least: true}
	scannerAlloc = figureName{what: "allocations an event"}
	shimObject   = figureName{what: "an object", unit: " ms", clock: true}
	idleMemory   = figureName{what: "memory at rest", unit: " MiB"}
)

// privateScenarios are those of private Cluster API types beside single requests.
func privateScenarios() []scenario {
	return append(loadScenarios(), scenario{
		fmt.Sprintf("capi-proxy-list-%d", longList), fmt.Sprintf("a list of %d Machines of 4 KiB by capi-proxy", longList),
		[]target{atMost(listRatio, 1.25), atMost(listLate, 10), atMost(listMemory, 16)},
		listing,
	}, scenario{
		fmt.Sprintf("capi-proxy-watches-%d", openWatches), fmt.Sprintf("%d watches held open by capi-proxy, a connection each", openWatches),
		[]target{atMost(watchMemory, 48)},
		holding,
	}, scenario{
		"capi-proxy-watch-delay", fmt.Sprintf("a hundred events a second, each for %d watchers by capi-proxy: from the write until it is seen", delayWatchers),
		[]target{atMost(watchDelay, 2)},
		delaying,
	}, scenario{
		"capi-proxy-idle", "capi-proxy that was asked a little and rests",
		[]target{atMost(idleMemory, 40)},
		idling,
	}, scenario{
		"capi-scanner", "what translates the events of a watch, alone on a core",
		[]target{atLeast(scannerSpeed, 300), atMost(scannerAlloc, 0)},
		scanning,
	}, scenario{
		"capi-shim", "a hundred Machines of 4 KiB in a review, converted to another version by the shim",
		[]target{atMost(shimObject, 1)},
		shimming,
	}, scenario{
		"capi-move", fmt.Sprintf("hosted clusters of %d to %d Machines move to private types, one after the other", moveSizes[0], moveSizes[len(moveSizes)-1]),
		[]target{atLeast(moveLinear, 0.98), atLeast(moveRequests, 0.98)},
		movingMachines,
	})
}

// idling measures the memory of a proxy that has nothing to do.
func idling(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	for run := range b.runs {
		err := b.proxying(ctx, func(w *ways) error {
			if err := w.fill(ctx, 1); err != nil {
				return err
			}
			resident, err := w.warm(ctx)
			if err != nil {
				return err
			}
			own, err := memoryMiB(w.proxy.PID(), "RssAnon")
			if err != nil {
				return err
			}
			b.say("run %d of %d: %.1f MiB, of which %.1f MiB are not the program's pages", run+1, b.runs, resident, own)
			samples = append(samples, sample{RSSMiB: resident, figures: map[figureName]float64{idleMemory: resident}})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// scanning and shimming run benchmarks of the product's own, which measure what no client sees.
func scanning(ctx context.Context, b *bench) ([]sample, error) {
	return b.benchmarks(ctx, "phases/rewrite", "WatchEvent/mapped", map[figureName]benchmarkFigure{scannerSpeed: {"MB/cpu-s", 1}, scannerAlloc: {"allocs/op", 1}})
}

func shimming(ctx context.Context, b *bench) ([]sample, error) {
	return b.benchmarks(ctx, "cmd/capi-shim", "Convert", map[figureName]benchmarkFigure{shimObject: {"us/object", 1e-3}})
}

// benchmarkFigure is what a Go benchmark reports in a unit of its own.
type benchmarkFigure struct {
	unit  string
	times float64
}

// benchmarks runs a Go benchmark of a folder once for each run, on one core.
func (b *bench) benchmarks(ctx context.Context, folder, name string, figures map[figureName]benchmarkFigure) ([]sample, error) {
	var samples []sample
	for run := range b.runs {
		test := exec.CommandContext(ctx, "go", "test", ".", "-run", "^$", "-bench", name, "-cpu", "1")
		test.Dir = filepath.Join(filepath.Dir(b.bin), folder)
		out, err := test.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("running benchmark %s of %s: %w: %s", name, folder, err, out)
		}
		one := sample{figures: map[figureName]float64{}}
		for f, from := range figures {
			value, err := reported(string(out), from.unit)
			if err != nil {
				return nil, err
			}
			one.figures[f] = value * from.times
			b.say("run %d of %d: %s %.4g%s", run+1, b.runs, f.what, one.figures[f], f.unit)
		}
		samples = append(samples, one)
	}
	return samples, nil
}

// reported is the figure before a unit in what a benchmark of Go says.
func reported(text, unit string) (float64, error) {
	found := regexp.MustCompile(`\s([0-9.e+]+) ` + regexp.QuoteMeta(unit) + `\s`).FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("the benchmark reports no %s: %.500s", unit, text)
	}
	return strconv.ParseFloat(found[1], 64)
}
