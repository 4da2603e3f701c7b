package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDemoOfASharedDefinitionRefusesWhatBreaksAndLetsTheRestGoOn(t *testing.T) {
	dir := t.TempDir()
	output := captured(t, func(out *os.File) {
		if err := demonstrate(t.Context(), out, absolute(t, bin), dir, (*demonstration).share); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		State, Path string
		Seconds     float64
		Writes      []written
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	const way = "WaitingOnInfra -> Planning -> AwaitingCRDs -> Applying -> Pruning -> Installed"
	if r.Path != way || !strings.Contains(output, way) {
		t.Errorf("went %s, want %s", r.Path, way)
	}
	if r.Seconds <= 0 {
		t.Errorf("it took %.1f s", r.Seconds)
	}
	var answers []string
	for _, w := range r.Writes {
		answer := "passes"
		if w.Refused {
			answer = "refused"
		}
		answers = append(answers, answer)
	}
	if got, want := strings.Join(answers, " "), "refused passes refused passes passes passes passes passes refused"; got != want {
		t.Errorf("the answers are %s, want %s", got, want)
	}
	for _, text := range []string{"CRDNotFound", path, "no field of it is Capstan's"} {
		if !strings.Contains(output, text) {
			t.Errorf("nobody reads %q", text)
		}
	}
	nothingRuns(t, dir)
}
