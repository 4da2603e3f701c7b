package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// downloads is the step of getting modules. How many of those that are missing
// will be needed is known only afterwards.
type downloads struct {
	atMost, begun int
	newest        string
}

func (d *downloads) takes(line string) bool {
	module, is := strings.CutPrefix(line, "go: downloading ")
	if is {
		d.begun++
		d.newest = module
	}
	return is
}

func (d *downloads) text(after time.Duration) string {
	if d.begun == 0 {
		return "finding out what is to be built; " + clock(after) + " so far"
	}
	atMost := max(d.atMost, d.begun)
	text := fmt.Sprintf("downloading module %d of at most %d, %s; %s so far", d.begun, atMost, d.newest, clock(after))
	if left, known := estimate(after, int64(d.begun), int64(atMost)); known {
		text += ", at most " + clock(left) + " left at this rate"
	}
	return text
}

// compilation is the step of compiling. Packages are counted, and weighed by
// the size of their source to tell how long the rest may take.
type compilation struct {
	weights           map[string]int64
	all               int
	done, totalWeight int64
	compiled          int
}

// newCompilation takes the lines that staleFormat prints.
func newCompilation(listed string, size func(folder, file string) int64) *compilation {
	c := &compilation{weights: map[string]int64{}}
	for _, line := range strings.Split(listed, "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			continue
		}
		weight := int64(perPackage)
		for _, file := range strings.Fields(fields[2]) {
			weight += size(fields[1], file)
		}
		c.weights[fields[0]] = weight
		c.totalWeight += weight
	}
	c.all = len(c.weights)
	return c
}

// perPackage is what a package costs whatever its size, in bytes of source.
const perPackage = 64 << 10

// takes knows the lines of go build -v: import paths, each printed when its compilation begins.
func (c *compilation) takes(line string) bool {
	if line == "" || strings.HasPrefix(line, "#") || strings.ContainsAny(line, ": \t") {
		return false
	}
	c.compiled++
	c.done += c.weights[line]
	delete(c.weights, line)
	return true
}

func (c *compilation) text(after time.Duration) string {
	if c.compiled >= c.all {
		return fmt.Sprintf("compiled %d packages, linking; %s so far", c.compiled, clock(after))
	}
	text := fmt.Sprintf("compiled %d of %d packages; %s so far", c.compiled, c.all, clock(after))
	if left, known := estimate(after, c.done, c.totalWeight); known {
		text += ", about " + clock(left) + " left at this rate"
	}
	return text
}

// estimate is how long the rest takes at the rate so far, once there is one.
func estimate(after time.Duration, done, all int64) (time.Duration, bool) {
	if after < 5*time.Second || done == 0 || done*100 < all {
		return 0, false
	}
	return time.Duration(float64(after) * float64(all-done) / float64(done)), true
}

// clock writes a time as minutes and seconds.
func clock(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// missing counts the modules of a build's go.mod that are not in the module cache.
func missing(ctx context.Context, b build) (int, error) {
	folder, file := ".", "go.mod"
	for _, flag := range b.flags {
		if value, is := strings.CutPrefix(flag, "-C="); is {
			folder = value
		}
		if value, is := strings.CutPrefix(flag, "-modfile="); is {
			file = value
		}
	}
	answer := func(arguments ...string) ([]byte, error) {
		command := exec.CommandContext(ctx, b.program, arguments...)
		command.Dir, command.Stderr = folder, os.Stderr
		out, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("running %s: %w", command, err)
		}
		return out, nil
	}
	cache, err := answer("env", "GOMODCACHE")
	if err != nil {
		return 0, err
	}
	text, err := answer("mod", "edit", "-json", file)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, m := range required(text) {
		zip := filepath.Join(string(bytes.TrimSpace(cache)), "cache", "download", escaped(m.Path), "@v", escaped(m.Version)+".zip")
		if _, err := os.Stat(zip); err != nil {
			count++
		}
	}
	return count, nil
}

type module struct{ Path, Version string }

// required are the modules that a go.mod, as JSON, asks for, replacements in place of what they replace.
func required(text []byte) []module {
	var file struct {
		Require []module
		Replace []struct{ Old, New module }
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	replaced := map[string]module{}
	for _, r := range file.Replace {
		replaced[r.Old.Path] = r.New
	}
	var all []module
	for _, m := range file.Require {
		if by, is := replaced[m.Path]; is {
			m = by
		}
		if m.Version != "" { // else it is a folder
			all = append(all, m)
		}
	}
	return all
}

// escaped is how the module cache spells a path or a version: capitals with an exclamation mark.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
