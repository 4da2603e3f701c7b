package image

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuild_refuses_a_binary_that_an_image_cannot_run_or_nobody_can_trace(t *testing.T) {
	good := map[string]string{
		"CGO_ENABLED": "0", "-trimpath": "true", "vcs.revision": "01d932c8a5c9", "vcs.time": "2026-11-22T17:00:56+01:00",
		"vcs.modified": "true", "GOOS": "linux", "GOARCH": "arm64",
	}
	info := func(key, value string) *debug.BuildInfo {
		i := &debug.BuildInfo{GoVersion: "go1.26.8"}
		for k, v := range good {
			if k != key {
				i.Settings = append(i.Settings, debug.BuildSetting{Key: k, Value: v})
			}
		}
		if value != "" {
			i.Settings = append(i.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		return i
	}
	b, err := buildOf(info("none", ""))
	if err != nil {
		t.Fatal(err)
	}
	if created(b) != "2026-11-22T16:00:56Z" || b.String() != "01d932c8a5c9-dirty" || b.Platform() != "linux/arm64" {
		t.Errorf("got %s, %s, %s", created(b), b, b.Platform())
	}
	inside := info("none", "")
	inside.Main.Path = "example.com/m/cmd/inside"
	inside.Deps = []*debug.Module{{Path: "example.com/m", Replace: &debug.Module{Path: "../../"}}, {Path: "example.com/mine", Version: "v1.0.0"}}
	if b, err := buildOf(inside); err != nil || len(b.Modules) != 1 || b.Modules[0].Path != "example.com/mine" {
		t.Errorf("of a module within its repository it depends on %v: %v", b.Modules, err)
	}
	for _, c := range []struct{ key, value, want string }{
		{"CGO_ENABLED", "1", "CGO_ENABLED=0"},
		{"-trimpath", "", "build it with -trimpath"},
		{"vcs.revision", "", "names no commit"},
		{"vcs.time", "yesterday", "the time of its commit"},
		{"-tags", "other,e2e", "it is for tests"},
	} {
		if _, err := buildOf(info(c.key, c.value)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s gives %v", c.key, c.value, err)
		}
	}
}

func TestRead_refuses_what_does_not_belong_into_one_image(t *testing.T) {
	b := testBuild()
	for what, other := range map[string]func(*Build){
		"another commit":   func(o *Build) { o.Commit = strings.Repeat("a", 40) },
		"changes":          func(o *Build) { o.Modified = true },
		"another platform": func(o *Build) { o.Arch = "arm64" },
		"another Go":       func(o *Build) { o.Go = "go1.26.9" },
		"another module":   func(o *Build) { o.Module = "example.com/m" },
		"one like it":      func(o *Build) { o.Module += "-other" },
	} {
		o := testBuild()
		if other(o); b.with(o) {
			t.Errorf("%s is let in", what)
		}
	}
	inside := testBuild()
	inside.Module += "/cmd/inside"
	if !b.with(testBuild()) || !b.with(inside) || !inside.with(b) {
		t.Error("the same build is refused, or one of a module within it")
	}
	if _, err := Read(nil); err == nil {
		t.Error("no binary is let in")
	}
	folder := t.TempDir()
	large := filepath.Join(folder, "large")
	write(t, large, "")
	if err := os.Truncate(large, maxBinary+1); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(folder, "text")
	write(t, text, "text")
	for path, want := range map[string]string{large: "look for what was linked", text: "reading how", folder + "/none": "no such file"} {
		if _, err := Read([]string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v", path, err)
		}
	}
}
