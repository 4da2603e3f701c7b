package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table prints the results with their targets below each other, for people.
func (r results) table(out io.Writer, scenarios []scenario) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCENARIO\tOBJECTS\tSECONDS\tFLOOR\tRATIO\tREQUESTS\tWRITES\tDRY-RUNS\tRSS MIB\tTARGETS")
	for _, s := range scenarios {
		one, measured := r.named(s.name)
		if !measured {
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%.0f\t%s\n", one.Name, one.Objects, seconds(one.Seconds),
			seconds(one.FloorSeconds), figure("%.2f", one.Ratio), one.Requests, one.Writes, one.DryRuns, one.RSSMiB, strings.Join(r.verdicts(s, one), ", "))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

func seconds(value float64) string {
	if value < 0.1 {
		return figure("%.4f", value)
	}
	return figure("%.2f", value)
}

// figure shows a missing value as such.
func figure(format string, value float64) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

// verdicts are a scenario's targets, each with what it is measured by.
func (r results) verdicts(s scenario, one result) []string {
	var texts []string
	for _, t := range s.targets {
		if value, known := t.value(one, r); known {
			texts = append(texts, t.verdict(value)+t.beside(one))
		}
	}
	return texts
}

// missed are the targets that do not hold, in words.
func (r results) missed(scenarios []scenario) []string {
	var texts []string
	for _, s := range scenarios {
		one, measured := r.named(s.name)
		for _, t := range s.targets {
			if value, known := t.value(one, r); measured && known && !t.met(value) {
				texts = append(texts, fmt.Sprintf("%s: %s, and it was %s%s", s.name, t.name(), t.show(value), t.beside(one)))
			}
		}
	}
	return texts
}
