package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheDemoOfPrivateTypesMovesOneHostedClusterAndMovesAnotherBack(t *testing.T) {
	dir := t.TempDir()
	output := captured(t, func(out *os.File) {
		if err := demonstrate(t.Context(), out, absolute(t, bin), dir, (*demonstration).moveHosted); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var r hostedReport
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Killed.Copies == 0 || r.Killed.Copies >= r.Killed.Of {
		t.Errorf("the operator was killed at %+v", r.Killed)
	}
	if len(r.Moves) != 2 {
		t.Fatalf("the moves are %+v", r.Moves)
	}
	for i, want := range []struct {
		of, ended string
		passes    []string
		calls     int
	}{
		{"clusters/shop", "Private", []string{"Copying", "Starting", "Observing", "RemovingSource"}, 0},
		{"clusters/bank", "Failed", []string{"Observing", "CopyingBack", "DroppingCopies", "Restoring"}, 1},
	} {
		m := r.Moves[i]
		if m.HostedCluster != want.of || m.Ended != want.ended || len(m.Cloud) != want.calls || m.Seconds <= 0 {
			t.Errorf("the move of %s is %+v", want.of, m)
		}
		for _, state := range want.passes {
			if !slices.Contains(m.States, state) {
				t.Errorf("%s went %v, and not through %s", want.of, m.States, state)
			}
		}
	}
	for _, text := range []string{"Stand-ins", "capstan-private-capi-fence", "health-check-timeout", "capstan private-capi explain clusters/bank"} {
		if !strings.Contains(output, text) {
			t.Errorf("nobody reads %q", text)
		}
	}
	nothingRuns(t, dir)
}
