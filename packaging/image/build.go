package image

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// maxBinary bounds a binary: one that is so much larger has something in it that nobody meant to link.
const maxBinary = 128 << 20

// Program is a binary.
type Program struct {
	// Name is its name in /usr/bin, and Content its bytes.
	Name    string
	Content []byte
	*Build
}

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

// Read looks into the binaries of one image. It refuses one that an image from scratch cannot run, one whose bytes differ from
// folder to folder or that does not say which commit it is of, and those that are not of one commit and platform.
func Read(paths []string) ([]Program, error) {
	if len(paths) == 0 {
		return nil, errors.New("an image needs a binary")
	}
	var all []Program
	for _, path := range paths {
		p, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("reading how %s was built: %w", path, err)
		}
		if len(all) > 0 && !p.with(all[0].Build) {
			return nil, fmt.Errorf("%s is %s of %s, and %s %s of %s: build them together", path, p.Platform(), p.Build, paths[0], all[0].Platform(), all[0].Build)
		}
		all = append(all, p)
	}
	return all, nil
}

func read(path string) (Program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Program{}, err
	}
	if info.Size() > maxBinary {
		return Program{}, fmt.Errorf("it has %d bytes, more than %d: look for what was linked", info.Size(), maxBinary)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return Program{}, err
	}
	built, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return Program{}, err
	}
	b, err := buildOf(built)
	return Program{Name: filepath.Base(path), Content: content, Build: b}, err
}

// with says that another binary was built from the same, for the same. One of the two may be of a module within the other's.
func (b *Build) with(other *Build) bool {
	return b.String() == other.String() && b.Platform() == other.Platform() && b.Go == other.Go && (within(b.Module, other.Module) || within(other.Module, b.Module))
}

// within says that a module is another one, or lies in it, as one does that is built from the same repository.
func within(module, other string) bool { return strings.HasPrefix(module+"/", other+"/") }

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
	// The repository's own code is no dependency of a module within it.
	b.Modules = slices.DeleteFunc(slices.Clone(info.Deps), func(m *debug.Module) bool { return within(b.Module, m.Path) })
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
