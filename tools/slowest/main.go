// Command slowest reads what the packages of a test run have left in a folder,
// ginkgo's reports (NAME.json) and the output of go test -v (NAME.log), and
// prints the tests and specs that took the longest.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// shown is how many are printed.
const shown = 10

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: slowest FOLDER")
		os.Exit(2)
	}
	all, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "slowest: %v\n", err)
		os.Exit(1)
	}
	total := time.Duration(0)
	for _, t := range all {
		total += t.took
	}
	fmt.Fprintf(os.Stdout, "the slowest of %d tests and specs, which took %s:\n", len(all), total.Round(time.Second))
	for _, t := range all[:min(shown, len(all))] {
		fmt.Fprintf(os.Stdout, "%7.1f s  %s: %s\n", t.took.Seconds(), t.in, t.name)
	}
}

// timed is a test or a spec.
type timed struct {
	in, name string
	took     time.Duration
}

// read finds all tests and specs, the slowest first.
func read(folder string) ([]timed, error) {
	reports, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("looking for reports: %w", err)
	}
	logs, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil {
		return nil, fmt.Errorf("looking for logs: %w", err)
	}
	var all []timed
	// suites are how long the specs of each package took: the test that runs them is none besides.
	suites := map[string]time.Duration{}
	for _, file := range append(reports, logs...) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading times: %w", err)
		}
		extension := filepath.Ext(file)
		in := strings.TrimSuffix(filepath.Base(file), extension)
		if extension == ".log" {
			all = append(all, tests(in, string(text), suites[in])...)
			continue
		}
		found, err := specs(in, text)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, spec := range found {
			suites[in] += spec.took
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(b.took, a.took) })
	return all, nil
}

// specs reads a report of ginkgo; what goes before or after all specs is there, too.
func specs(in string, report []byte) ([]timed, error) {
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts    []string
			LeafNodeText, LeafNodeType string
			State                      string
			RunTime                    time.Duration
		}
	}
	if err := json.Unmarshal(report, &suites); err != nil {
		return nil, err
	}
	var found []timed
	for _, suite := range suites {
		for _, s := range suite.SpecReports {
			if s.State == "skipped" || s.State == "pending" {
				continue
			}
			name := strings.Join(append(s.ContainerHierarchyTexts, s.LeafNodeText), " ")
			found = append(found, timed{in, cmp.Or(strings.TrimSpace(name), s.LeafNodeType), s.RunTime})
		}
	}
	return found, nil
}

var ended = regexp.MustCompile(`(?m)^--- (?:PASS|FAIL): (\S+) \((\d+\.\d+)s\)$`)

// tests reads the output of go test -v; one that lasts as long as the specs has run them.
func tests(in, output string, specs time.Duration) []timed {
	var found []timed
	for _, match := range ended.FindAllStringSubmatch(output, -1) {
		took, err := time.ParseDuration(match[2] + "s")
		if err == nil && (specs == 0 || took < specs) {
			found = append(found, timed{in, match[1], took})
		}
	}
	return found
}
