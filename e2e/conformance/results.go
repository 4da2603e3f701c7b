package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// outcome is how a spec ended.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped"
	// missing is the outcome of a spec that has not ended, or was never begun.
	missing outcome = "missing"
)

// outcomes are those of the specs of one run of a suite, by name.
type outcomes map[string]outcome

// of is the outcome of a spec.
func (o outcomes) of(name string) outcome {
	if found, is := o[name]; is {
		return found
	}
	return missing
}

// count is how many specs ended so.
func (o outcomes) count(how outcome) int {
	n := 0
	for _, found := range o {
		if found == how {
			n++
		}
	}
	return n
}

// add keeps a spec. One of a name that is there already gets a number behind it, in the order in which they are told.
func (o outcomes) add(name string, how outcome) {
	unique := name
	for n := 2; o[unique] != ""; n++ {
		unique = fmt.Sprintf("%s #%d", name, n)
	}
	o[unique] = how
}

// readGinkgo reads a report that ginkgo wrote in JSON. What is pending, or was left out by a filter, was not run. Of a suite that could not
// begin there is nothing.
func readGinkgo(source io.Reader) (outcomes, error) {
	var reports []types.Report
	if err := json.NewDecoder(source).Decode(&reports); err != nil {
		return nil, fmt.Errorf("reading a report of ginkgo: %w", err)
	}
	found := outcomes{}
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			if spec.LeafNodeType != types.NodeTypeIt {
				if spec.State.Is(types.SpecStateFailureStates) && !spec.LeafNodeType.Is(types.NodeTypeBeforeSuite|types.NodeTypeSynchronizedBeforeSuite) {
					found.add("["+spec.LeafNodeType.String()+"] "+spec.FullText(), failed)
				}
				continue
			}
			switch {
			case spec.State.Is(types.SpecStatePassed):
				found.add(spec.FullText(), passed)
			case spec.State.Is(types.SpecStateFailureStates):
				found.add(spec.FullText(), failed)
			case spec.State.Is(types.SpecStateSkipped) && spec.NumAttempts > 0:
				found.add(spec.FullText(), skipped)
			}
		}
	}
	return found, nil
}

// ended is the line by which a test of package testing says how it ended. With -test.v=test2json a byte stands before it
// that no log has.
var ended = regexp.MustCompile(`\x16 *--- (PASS|FAIL|SKIP): (\S+) \(`)

// readTesting reads what a test binary printed that was run with -test.v=test2json.
func readTesting(source io.Reader) (outcomes, error) {
	found := outcomes{}
	lines := bufio.NewReader(source)
	for {
		line, err := lines.ReadString('\n')
		for _, match := range ended.FindAllStringSubmatch(line, -1) {
			found[match[2]] = map[string]outcome{"PASS": passed, "FAIL": failed, "SKIP": skipped}[match[1]]
		}
		if err == io.EOF {
			return found.leaves().seedless(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the output of a test: %w", err)
		}
	}
}

// seed is the number by which a test of a random course is named, another one in each run.
var seed = regexp.MustCompile(`random\(\d+\)`)

// seedless has one outcome for all tests that only a seed tells apart: the failure of one is that of all.
func (o outcomes) seedless() outcomes {
	kept := outcomes{}
	for name, how := range o {
		name = seed.ReplaceAllString(name, "random")
		if how == failed || kept[name] == "" || kept[name] == skipped {
			kept[name] = how
		}
	}
	return kept
}

// leaves are the tests that are not made of others: a test that has subtests fails when one of them does.
func (o outcomes) leaves() outcomes {
	kept := outcomes{}
	for name, how := range o {
		kept[name] = how
	}
	for name := range o {
		for at := strings.LastIndexByte(name, '/'); at >= 0; at = strings.LastIndexByte(name[:at], '/') {
			// A failure of its own, after all subtests, stays.
			if parent := name[:at]; o[parent] != failed {
				delete(kept, parent)
			}
		}
	}
	return kept
}
