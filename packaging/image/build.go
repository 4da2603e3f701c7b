package image

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Build is what the Go toolchain has recorded of a binary.
type Build struct {
	// Commit is what it was built from, and Time when that was made.
	Commit string
	Time   time.Time
	// Modified says that the tree had changes that the commit has not.
	Modified bool
	OS, Arch string
	// Go is the version of the toolchain.
	Go string
	// Module is the one that the binary is of, and Modules those it has in it, with what stands for them, sorted by path.
	Module  string
	Modules []*debug.Module
}

// Read looks into a binary. It refuses one that an image from scratch cannot run, and one whose bytes differ from folder
// to folder or that does not say which commit it is of.
func Read(path string) (*Build, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading how %s was built: %w", path, err)
	}
	b, err := buildOf(info)
	if err != nil {
		return nil, fmt.Errorf("reading how %s was built: %w", path, err)
	}
	return b, nil
}

func buildOf(info *debug.BuildInfo) (*Build, error) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	switch {
	case settings["CGO_ENABLED"] != "0":
		return nil, errors.New("it may need a C library: build it with CGO_ENABLED=0")
	case settings["-trimpath"] != "true":
		return nil, errors.New("it names folders of the machine that built it: build it with -trimpath")
	case settings["vcs.revision"] == "":
		return nil, errors.New("it names no commit: build it with -buildvcs=true in a clone")
	case slices.Contains(strings.Split(settings["-tags"], ","), "e2e"):
		return nil, errors.New("it is for tests: build it without the tag e2e")
	}
	committed, err := time.Parse(time.RFC3339, settings["vcs.time"])
	if err != nil {
		return nil, fmt.Errorf("reading the time of its commit: %w", err)
	}
	b := &Build{
		Commit: settings["vcs.revision"], Time: committed.UTC(), Modified: settings["vcs.modified"] == "true",
		OS: settings["GOOS"], Arch: settings["GOARCH"], Go: info.GoVersion, Module: info.Main.Path,
	}
	b.Modules = info.Deps
	return b, nil
}

// Platform is what the binary runs on.
func (b *Build) Platform() string { return b.OS + "/" + b.Arch }

// String is the commit, and says when it is not all that the binary was built from.
func (b *Build) String() string {
	if b.Modified {
		return b.Commit + "-dirty"
	}
	return b.Commit
}
