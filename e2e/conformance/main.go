package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	bin := flag.String("bin", "bin", "`folder` that make build, make controlplane and make conformance fill")
	only := flag.String("suites", "", "hold only these against the proxy, `names` or beginnings of names separated by commas")
	list := flag.Bool("list", false, "print each suite's name, module and package, and run nothing")
	flag.Parse()
	ctrllog.SetLogger(klog.NewKlogr())
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // they are about what suites do
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *bin, *only, *list)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, only string, list bool) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if list {
		for _, s := range chosen {
			fmt.Fprintln(os.Stdout, s.name, s.module, cmp.Or(s.pkg, "."))
		}
		return nil
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	r := &runner{bin: bin, logs: filepath.Join(bin, "log", "conformance"), started: time.Now()}
	if err := os.RemoveAll(r.logs); err != nil {
		return fmt.Errorf("removing the logs of the last run: %w", err)
	}
	if err := os.MkdirAll(r.logs, 0o755); err != nil {
		return fmt.Errorf("making the folder of logs: %w", err)
	}
	var (
		results  []result
		problems []error
	)
	for _, s := range chosen {
		one, err := r.compare(ctx, s)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		results = append(results, one)
		problems = append(problems, one.problem())
	}
	return errors.Join(append([]error{table(os.Stdout, results)}, problems...)...)
}
