package main

import (
	"strings"
	"testing"
)

func TestPin_lasts_for_three_days_unless_it_is_said(t *testing.T) {
	// Nobody serves there: what is asked for is looked at before anything is sent.
	for name, row := range map[string]struct {
		args []string
		says string
	}{
		"nothing is said":    {nil, "kubeconfig"},
		"an hour":            {[]string{"--for", "1h"}, "kubeconfig"},
		"no time":            {[]string{"--for", "0s"}, "--for is 0s"},
		"more than there is": {[]string{"--for", "721h"}, "--for is 721h0m0s"},
	} {
		cmd := pinCommand()
		cmd.SetArgs(append(row.args, "--reason", "r", "--yes", "--kubeconfig", t.TempDir()+"/kubeconfig"))
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if lasts := pinCommand().Flags().Lookup("for"); lasts.DefValue != "72h0m0s" || !strings.Contains(pinCommand().Long, "72h unless") {
		t.Errorf("it lasts for %s, and its help does not say so", lasts.DefValue)
	}
}
