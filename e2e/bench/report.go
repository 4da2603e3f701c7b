package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// reportFile lies in the folder bench of the binaries' folder.
const reportFile = "report.json"

// result is what a scenario cost: the medians of its runs. Zero means that the
// scenario has no such figure.
type result struct {
	Name    string  `json:"name"`
	Objects int     `json:"objects"`
	Seconds float64 `json:"seconds"`
	// FloorSeconds is what the floor took, and Ratio the median of the runs' own ratios.
	FloorSeconds float64 `json:"floorSeconds"`
	Ratio        float64 `json:"ratio"`
	// Requests are all of the operator's; Writes those that could change anything
	// but the Lease; DryRuns those that could not, although they say what to write.
	Requests int `json:"requests"`
	Writes   int `json:"writes"`
	DryRuns  int `json:"dryRuns"`
	// RSSMiB is the operator's peak of resident memory.
	RSSMiB float64 `json:"rssMiB"`

	// rewrites are the most writes to one object that a new revision leaves unchanged.
	rewrites int
	// questions is how often the API server has asked the checker, and ready after how many seconds the checker took requests.
	questions int
	// half and floorHalf are what half of the writes took at most; people read them beside the quantile of the target.
	half, floorHalf time.Duration
	ready           float64
	// waited are the seconds of Seconds in which nothing was computed, where that was measured.
	waited float64
	// figures are those that only some scenarios have.
	figures map[figureName]float64
	// passes are those of the machines that a scenario is about.
	passes int
	// without are the requests of the same operator without what the scenario is about.
	without int
	// pace is that of the machine while the scenario was measured; zero counts as one.
	pace pace
}

func (r result) ratio() float64 {
	if r.FloorSeconds == 0 {
		return 0
	}
	return r.Seconds / r.FloorSeconds
}

// sample is one run of a scenario.
type sample = result

// results are those of several scenarios, in the order in which they were measured.
type results []result

// summarize takes the medians of a scenario's runs.
func summarize(name string, runs []sample) result {
	return result{
		Name:         name,
		Objects:      median(runs, func(s sample) int { return s.Objects }),
		Seconds:      rounded(median(runs, func(s sample) float64 { return s.Seconds }), 10000),
		FloorSeconds: rounded(median(runs, func(s sample) float64 { return s.FloorSeconds }), 1000),
		Ratio:        rounded(median(runs, sample.ratio), 100),
		Requests:     median(runs, func(s sample) int { return s.Requests }),
		Writes:       median(runs, func(s sample) int { return s.Writes }),
		DryRuns:      median(runs, func(s sample) int { return s.DryRuns }),
		RSSMiB:       rounded(median(runs, func(s sample) float64 { return s.RSSMiB }), 10),
		rewrites:     median(runs, func(s sample) int { return s.rewrites }),
		questions:    median(runs, func(s sample) int { return s.questions }),
		ready:        median(runs, func(s sample) float64 { return s.ready }),
		waited:       median(runs, func(s sample) float64 { return s.waited }),
		figures:      figuresOf(runs),

		passes:  median(runs, func(s sample) int { return s.passes }),
		without: median(runs, func(s sample) int { return s.without }),
	}
}

// median is the middle value; of an even number the higher of the two, so that
// nothing looks better than it is.
func median[N cmp.Ordered](runs []sample, of func(sample) N) N {
	var values []N
	for _, run := range runs {
		values = append(values, of(run))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func rounded(value, parts float64) float64 { return float64(int64(value*parts+0.5)) / parts }

func (r results) named(name string) (result, bool) {
	at := slices.IndexFunc(r, func(one result) bool { return one.Name == name })
	if at < 0 {
		return result{}, false
	}
	return r[at], true
}

func (r results) encode(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(map[string]results{"scenarios": r}); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	return nil
}

func (r results) write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	defer file.Close()
	if err := r.encode(file); err != nil {
		return err
	}
	return file.Close()
}
