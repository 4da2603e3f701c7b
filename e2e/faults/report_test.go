package faults_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// result is one cell of the report.
type result struct {
	Machine  string  `json:"machine"`
	State    string  `json:"state"`
	Replicas int     `json:"replicas"`
	Fault    string  `json:"fault"`
	Expected string  `json:"expected"`
	Observed string  `json:"observed"`
	Seconds  float64 `json:"seconds"`
	OK       bool    `json:"ok"`
}

var results []result

func report(p place, observed string, took time.Duration, ok bool) {
	results = append(results, result{
		Machine: "clusterapi", State: p.state, Replicas: replicas.count, Fault: p.name, Expected: p.sentence(p.stage), Observed: observed,
		Seconds: float64(took.Milliseconds()) / 1000, OK: ok,
	})
}

// observe is what an administrator sees of a view.
func observe(v harness.View) string {
	text := v.Record.State
	for _, kind := range []string{"Progressing", "Degraded"} {
		if c := v.Condition(kind); c != nil {
			text += fmt.Sprintf("; %s=%s %s", kind, c.Status, c.Reason)
			if c.Message != "" && !strings.Contains(text, c.Message) {
				text += ": " + c.Message
			}
		}
	}
	return text
}

// sentence is what is expected, in words.
func (e expectation) sentence(s *stage) string {
	switch e.word {
	case unnoticed:
		if e.mended {
			return "stays in " + s.state + "; what was edited is put right meanwhile, and nothing is told"
		}
		return "stays in " + s.state + "; nothing is told"
	case told:
		return "stays in " + s.state + "; people are told"
	case escalates, replans, waits, resumes:
		return "goes to " + e.to + "; people are told"
	}
	return "comes back to " + s.state + " by itself"
}

var _ = AfterSuite(func() {
	if *full && len(sightings) > 0 {
		Expect(keepSightings()).To(Succeed())
	}
	if len(results) == 0 && killPoints.Tried == 0 {
		return
	}
	slices.SortStableFunc(results, func(a, b result) int { return strings.Compare(a.Machine+a.State, b.Machine+b.State) })
	text, err := json.MarshalIndent(map[string]any{"cells": results, "killPoints": killPoints}, "", "  ")
	Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join(*bin, "faults")
	Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	name := "report.json"
	if !*full {
		name = "selection.json"
	}
	Expect(os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o644)).To(Succeed())
	failed := 0
	for _, r := range results {
		if !r.OK {
			failed++
		}
	}
	GinkgoWriter.Printf("%d cells, %d of them failed; %d kill points, %d converged\n", len(results), failed, killPoints.Tried, killPoints.Converged)
})
