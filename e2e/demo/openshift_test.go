package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheDemoOfOpenShiftInstallsAClusterUsesItAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	output := captured(t, func(out *os.File) {
		if err := demonstrate(t.Context(), out, absolute(t, bin), dir, (*demonstration).installOpenShift); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var r guestReport
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"AwaitingAPI", "Bootstrapping", "RemovingBootstrap", "Settling", "Installed"} {
		if !slices.Contains(r.States, state) {
			t.Errorf("it went %v, and not through %s", r.States, state)
		}
	}
	if len(r.KilledWith) == 0 || r.Bootstraps != 1 || len(r.Nodes) != guestMasters || r.Writes == 0 || r.Requests < r.Writes || r.Seconds <= 0 {
		t.Errorf("the report is %+v", r)
	}
	if !slices.Equal(r.Left, []string{"Secret " + guestName + "-install"}) {
		t.Errorf("these are left: %q", r.Left)
	}
	for _, text := range []string{"Stand-ins", "$ capstan-provider create", "$ capstan-provider apply", "the provider is killed", "/config/master", "nothing is left of it but what was given"} {
		if !strings.Contains(output, text) {
			t.Errorf("nobody reads %q", text)
		}
	}
	nothingRuns(t, dir)
}
