package image

import (
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
