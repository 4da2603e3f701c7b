package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/e2e/bootworld"
)

func TestTheDemoOfBootImagesMovesWhatIsEnrolledAndGivesWay(t *testing.T) {
	dir := t.TempDir()
	output := captured(t, func(out *os.File) {
		if err := demonstrate(t.Context(), out, absolute(t, bin), dir, (*demonstration).moveBootImages); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var r moved
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	var waves []string
	for _, w := range r.Waves {
		if w.Seconds <= 0 || w.Requests < w.Writes {
			t.Errorf("release %s took %+v", w.Release, w)
		}
		waves = append(waves, fmt.Sprint(w.Release, " ", w.Targets, " ", w.Writes, " ", w.Stubs["shop-user-data"], w.Stubs["pool-user-data"]))
	}
	// A set of Cluster API takes two writes, and each old stub one.
	if got, want := strings.Join(waves, ", "), "4.22.2 220 242 1 1, 4.22.3 222 242 0 0"; got != want {
		t.Errorf("the waves are %s, want %s", got, want)
	}
	if r.Attempts != 3 || r.LastWriter != string(script) || r.Retired != pools {
		t.Errorf("ended with %+v", r)
	}
	if got, want := strings.Join(r.Recorded, " "), "4.14.0 4.22.2 4.22.3"; got != want {
		t.Errorf("recorded are %s, want %s", got, want)
	}
	for _, text := range []string{
		"the gate is WaitingForRelease", "Foreign", "fleet", "boot-image-adopt", "ClusterBootImageSkewError", bootworld.AMI(3), "bootgate",
	} {
		if !strings.Contains(output, text) {
			t.Errorf("nobody reads %q", text)
		}
	}
	nothingRuns(t, dir)
}
