package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/capstan-capi/capstan/cmd/capstan/payload"
	"github.com/capstan-capi/capstan/cmd/terminal"
)

func (f *lintFlags) runPayload(args []string, out io.Writer) error {
	switch {
	case len(args) > 0:
		return errors.New("--payload checks the manifests of a release, and no image: leave the images out")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("--output %q is neither text nor json", f.output)
	}
	report, err := payload.Lint(os.DirFS(f.payload))
	if err != nil {
		return err
	}
	if err := printPayload(out, f.output, report); err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return fmt.Errorf("%s in %s", count(len(report.Problems), "problem"), count(report.Objects, "object"))
	}
	return nil
}

func printPayload(out io.Writer, format string, report payload.Report) error {
	if format == "json" {
		return terminal.JSON(out, report)
	}
	for _, problem := range report.Problems {
		fmt.Fprintln(out, problem)
	}
	if len(report.Problems) == 0 {
		fmt.Fprintf(out, "no problem in %s\n", count(report.Objects, "object"))
	}
	return nil
}
