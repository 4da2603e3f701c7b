// Command summary reads what the packages of a test run have left in a folder,
// ginkgo's reports (NAME.json) and the output of go test -v (NAME.log), and
// prints the tests and specs that took the longest, and what those say that failed.
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

const (
	// shown is how many of the slowest are printed.
	shown = 10
	// maxLines and maxLine bound what is printed of a failure: lines, and bytes of each. All of it is in the log.
	maxLines, maxLine = 15, 400
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: summary FOLDER")
		os.Exit(2)
	}
	all, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "summary: %v\n", err)
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
	for _, t := range all {
		if t.failure != "" {
			fmt.Fprintf(os.Stdout, "%s: %s: failed:\n%s", t.in, t.name, shorten(t.failure))
		}
	}
}

// timed is a test or a spec.
type timed struct {
	in, name string
	took     time.Duration
	// failure is what it said when it failed, empty if it has not.
	failure string
}

// shorten is the beginning of a text, indented.
func shorten(text string) string {
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == maxLines {
			out.WriteString("\t[...]\n")
			break
		}
		fmt.Fprintf(&out, "\t%s\n", line[:min(len(line), maxLine)])
	}
	return out.String()
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
			Failure                    struct {
				Message  string
				Location struct {
					FileName   string
					LineNumber int
				}
			}
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
			one := timed{in: in, name: cmp.Or(strings.TrimSpace(name), s.LeafNodeType), took: s.RunTime}
			if s.State != "passed" {
				one.failure = fmt.Sprintf("%s:%d: %s: %s", s.Failure.Location.FileName, s.Failure.Location.LineNumber, s.State, s.Failure.Message)
			}
			found = append(found, one)
		}
	}
	return found, nil
}

var ended = regexp.MustCompile(`(?m)^--- (PASS|FAIL): (\S+) \((\d+\.\d+)s\)$`)

// tests reads the output of go test -v; one that lasts as long as the specs has run them.
func tests(in, output string, specs time.Duration) []timed {
	var found []timed
	for _, at := range ended.FindAllStringSubmatchIndex(output, -1) {
		passed, name := output[at[2]:at[3]] == "PASS", output[at[4]:at[5]]
		took, err := time.ParseDuration(output[at[6]:at[7]] + "s")
		if err != nil || specs != 0 && took >= specs {
			continue
		}
		one := timed{in: in, name: name, took: took}
		if !passed {
			_, said, _ := strings.Cut(output[:at[0]], "=== RUN   "+name+"\n")
			one.failure = cmp.Or(said, "it said nothing")
		}
		found = append(found, one)
	}
	return found
}
