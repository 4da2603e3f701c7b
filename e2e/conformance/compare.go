package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is what came of one suite.
type result struct {
	suite string
	// direct and proxied are the specs of either run; again those that passed direct, did not pass by the proxy, and were run a second
	// time by the proxy, alone.
	direct, proxied, again outcomes
	// requests is how many the proxy was asked, and translated how many of them were about kinds that it maps.
	requests, translated int
	took                 time.Duration
}

// lost are the specs that passed direct and not by the proxy at the first try, in order.
func (r result) lost() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.direct)) {
		if r.direct[name] == passed && r.proxied.of(name) != passed {
			names = append(names, name)
		}
	}
	return names
}

// broken are those that did not pass at the second try either.
func (r result) broken() []string {
	return slices.DeleteFunc(r.lost(), func(name string) bool { return r.again.of(name) == passed })
}

// gained are the specs that passed by the proxy alone.
func (r result) gained() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.proxied)) {
		if r.proxied[name] == passed && r.direct.of(name) != passed {
			names = append(names, name)
		}
	}
	return names
}

// problem is an error if the suite has proved nothing, or names what passed direct and not by the proxy.
func (r result) problem() error {
	if r.direct.count(passed) == 0 {
		return fmt.Errorf("%s: no spec has passed direct; see its log", r.suite)
	}
	if r.requests == 0 {
		return fmt.Errorf("%s: the proxy was not asked once", r.suite)
	}
	broken := r.broken()
	if len(broken) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("%s: %d passed direct and not by the proxy:", r.suite, len(broken))}
	for _, name := range broken {
		lines = append(lines, fmt.Sprintf("  %s (%s)", name, r.proxied.of(name)))
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// table tells of all suites, a line each, then by name of what did not pass the same way on both sides.
func table(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "suite\tpassed direct\tpassed by proxy\tof them at the second try\tnot by proxy\tfailed direct\trequests\ttranslated\ttook\t")
	for _, r := range results {
		again := len(r.lost()) - len(r.broken())
		both := r.direct.count(passed) - len(r.broken())
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n", r.suite, r.direct.count(passed), both, again, len(r.broken()), r.direct.count(failed),
			r.requests, r.translated, r.took.Round(time.Second))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		for _, of := range []struct {
			words string
			names []string
		}{
			{"passed direct, and by the proxy at the second try", slices.DeleteFunc(r.lost(), func(name string) bool { return r.again.of(name) != passed })},
			{"passed by the proxy alone", r.gained()},
			{"failed direct", r.direct.names(failed)},
		} {
			for _, name := range of.names {
				fmt.Fprintf(out, "%s: %s: %s\n", r.suite, of.words, name)
			}
		}
	}
	return nil
}

// names are the specs that ended so, in order.
func (o outcomes) names(how outcome) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if o[name] == how {
			names = append(names, name)
		}
	}
	return names
}
