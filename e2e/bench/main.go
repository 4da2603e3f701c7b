// Package main measures what Capstan costs, on an embedded control plane: time
// beside the floor, which is a bare client that writes the same objects in the
// same gated order and does nothing else, and requests, writes and memory. It
// counts in the API server's audit log and in the kernel's books, sees the
// operator from outside only, and calls a target met only if it is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

type options struct {
	bin       string
	scenarios string
	runs      int
	output    string
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == copyFor {
		fmt.Fprintln(os.Stderr, "bench:", copying(os.Args[2]))
		os.Exit(1)
	}
	o := options{}
	flag.StringVar(&o.bin, "bin", "bin", "`folder` that make build and make controlplane fill")
	flag.StringVar(&o.scenarios, "scenario", "", "measure only these, `names` or beginnings of names separated by commas")
	flag.IntVar(&o.runs, "runs", 3, "how `often` each scenario is measured, and a ratio until so many say the same of its target; the medians are reported")
	flag.StringVar(&o.output, "o", "table", "what to print, table or json; `format`")
	flag.Parse()
	ctrllog.SetLogger(klog.NewKlogr())
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // they are about manifests that nobody here can change
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// missedError names every target that was missed.
type missedError []string

func (e missedError) Error() string { return "targets missed:\n  " + strings.Join(e, "\n  ") }

func run(ctx context.Context, o options) error {
	chosen, err := choose(o.scenarios)
	if err != nil {
		return err
	}
	if o.runs < 1 || !slices.Contains([]string{"table", "json"}, o.output) {
		return errors.New("--runs is at least 1, and -o is table or json")
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	var all results
	for _, s := range chosen {
		one, err := b.measure(ctx, s)
		if err != nil {
			return fmt.Errorf("measuring %s: %w", s.name, err)
		}
		all = append(all, one)
		// Written each time, so that a run that is stopped has said what it found.
		if err := all.write(filepath.Join(b.dir, reportFile)); err != nil {
			return err
		}
	}
	if o.output == "json" {
		err = all.encode(os.Stdout)
	} else {
		err = all.table(os.Stdout, chosen)
	}
	if err != nil {
		return err
	}
	if missed := all.missed(chosen); len(missed) > 0 {
		return missedError(missed)
	}
	return nil
}

// bench is one run of the program.
type bench struct {
	options
	// dir is bin/bench: the report, and images and manifests kept for the next time.
	dir      string
	scenario scenario
	started  time.Time
}

func newBench(o options) (*bench, error) {
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	o.bin = bin
	b := &bench{options: o, dir: filepath.Join(bin, "bench"), started: time.Now()}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the report: %w", err)
	}
	return b, nil
}

func (b *bench) measure(ctx context.Context, s scenario) (result, error) {
	b.scenario = s
	b.say("%s", s.doc)
	before, err := calibrate()
	if err != nil {
		return result{}, err
	}
	samples, err := s.measure(ctx, b)
	if err != nil {
		return result{}, err
	}
	after, err := calibrate()
	if err != nil {
		return result{}, err
	}
	one := summarize(s.name, samples)
	one.pace = between(before, after)
	b.say("the machine took %.2f times the processor, and %.2f times the time, of the one of reference", one.pace.processor, one.pace.clock)
	return one, nil
}

// enough says that there are as many runs as were asked for; where there is a
// target for a ratio, so many on the same side of it, so that noise does not decide.
func (b *bench) enough(samples []sample) bool {
	limit, paired := b.scenario.ratioLimit()
	if !paired {
		return len(samples) >= b.runs
	}
	met := 0
	for _, s := range samples {
		if s.ratio() <= limit {
			met++
		}
	}
	return max(met, len(samples)-met) >= b.runs
}

// say prints a line of progress, never onto standard output.
func (b *bench) say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "%4.0fs %-15s %s\n", time.Since(b.started).Seconds(), b.scenario.name, fmt.Sprintf(format, values...))
}
