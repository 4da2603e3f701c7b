package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion_tells_commit_and_modules(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.0.0-20261122160056-01d932c8a5c9+dirty"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.2.3"},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1"}},
		},
		Settings: []debug.BuildSetting{
			{Key: "GOOS", Value: "linux"},
			{Key: "GOARCH", Value: "arm64"},
			{Key: "vcs.revision", Value: "01d932c8a5c9"},
			{Key: "vcs.time", Value: "2026-11-22T16:00:56Z"},
			{Key: "vcs.modified", Value: "true"},
		},
	}
	for name, c := range map[string]struct {
		change func(*debug.BuildInfo)
		want   string
	}{
		"a tree with changes says so": {func(*debug.BuildInfo) {}, "commit   01d932c8a5c9 of 2026-11-22T16:00:56Z, with changes that are not in it\n"},
		"a clean tree is its commit": {
			func(i *debug.BuildInfo) { i.Settings[4].Value = "false" },
			"commit   01d932c8a5c9 of 2026-11-22T16:00:56Z\n",
		},
		"a build without version control claims no commit": {
			func(i *debug.BuildInfo) { i.Settings = i.Settings[:2] },
			"commit   not recorded by this build\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			changed := *info
			changed.Settings = append([]debug.BuildSetting(nil), info.Settings...)
			c.change(&changed)
			var out bytes.Buffer
			if err := releaseOf(&changed).write(&out); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"capstan  v0.0.0-20261122160056-01d932c8a5c9+dirty\n", c.want, "go       go1.26.8 linux/arm64\n", "modules  2\n",
			} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in\n%s", want, &out)
				}
			}
			fields := strings.Fields(out.String())
			if got := strings.Join(fields[len(fields)-4:], " "); got != "example.com/a v1.2.3 example.com/fork v1.0.1" {
				t.Errorf("the modules are %q", got)
			}
		})
	}
}

func TestVersion_prints_what_scripts_read(t *testing.T) {
	cmd := root()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"version", "-o", "json"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	var told struct {
		Version, Go, Platform string
		Commit                *string
		Modified              *bool
		Modules               []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	if told.Version == "" || !strings.HasPrefix(told.Go, "go1.") || !strings.Contains(told.Platform, "/") || told.Commit == nil || told.Modified == nil {
		t.Errorf("got %s", &out)
	}
	cmd.SetArgs([]string{"version", "-o", "yaml"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "neither text nor json") {
		t.Errorf("an unknown output gives %v", err)
	}
}
