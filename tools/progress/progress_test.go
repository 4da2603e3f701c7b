package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParse_takes_flags_and_packages_apart(t *testing.T) {
	b, err := parse([]string{"name", "go", "build", "-C=folder", "-race", "-o=bin/", ".", "./more/..."})
	if err != nil {
		t.Fatal(err)
	}
	for verb, want := range map[string]string{
		"list":  "go list -C=folder -deps -race . ./more/...",
		"build": "go build -C=folder -deps -race -o=bin/ . ./more/...",
	} {
		if got := strings.Join(b.command(t.Context(), verb, "-deps").Args, " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, wrong := range []string{"", "name", "name go test .", "name go build -race"} {
		if _, err := parse(strings.Fields(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestDownloads_are_told_beside_the_most_there_can_be(t *testing.T) {
	d := &downloads{atMost: 4}
	if got := d.text(time.Second); got != "finding out what is to be built; 0:01 so far" {
		t.Error(got)
	}
	for _, line := range []string{"go: downloading example.org/a v1.0.0", "go: warning", "go: downloading example.org/b v1.2.0"} {
		if d.takes(line) != strings.Contains(line, "downloading") {
			t.Errorf("%q is misunderstood", line)
		}
	}
	want := "downloading module 2 of at most 4, example.org/b v1.2.0; 1:30 so far, at most 1:30 left at this rate"
	if got := d.text(90 * time.Second); got != want {
		t.Errorf("got %q", got)
	}
}

func TestCompilation_counts_packages_and_weighs_them_by_their_source(t *testing.T) {
	size := func(folder, file string) int64 { return int64(len(folder)+len(file)) * perPackage }
	c := newCompilation("a/b\td\tx \n\n\nc\tdd\tx yy \n", size) // weights 1+2 and 1+3+4
	if got := c.text(10 * time.Second); got != "compiled 0 of 2 packages; 0:10 so far" {
		t.Error(got)
	}
	if !c.takes("a/b") || c.takes("a/b.go:7:1: undefined: x") || c.takes("# a/b") {
		t.Error("paths and other lines are mixed up")
	}
	if got := c.text(30 * time.Second); got != "compiled 1 of 2 packages; 0:30 so far, about 1:20 left at this rate" {
		t.Error(got)
	}
	c.takes("c")
	if got := c.text(time.Minute); got != "compiled 2 packages, linking; 1:00 so far" {
		t.Error(got)
	}
}

func TestEstimate_waits_for_a_rate(t *testing.T) {
	for _, none := range []struct {
		after     time.Duration
		done, all int64
	}{{time.Second, 50, 100}, {time.Hour, 0, 100}, {time.Hour, 9, 1000}, {time.Hour, 0, 0}} {
		if got, known := estimate(none.after, none.done, none.all); known {
			t.Errorf("%+v gives %s", none, got)
		}
	}
}

func TestRequired_looks_at_replacements(t *testing.T) {
	got := required([]byte(`{"Require": [{"Path": "a.org/A", "Version": "v1.0.0-Rc"}, {"Path": "b", "Version": "v0.0.0"}, {"Path": "c", "Version": "v1.0.0"}],
		"Replace": [{"Old": {"Path": "b"}, "New": {"Path": "b", "Version": "v2.0.0"}}, {"Old": {"Path": "c"}, "New": {"Path": "../c"}}]}`))
	if len(got) != 2 || got[1].Version != "v2.0.0" || escaped(got[0].Path+"@"+got[0].Version) != "a.org/!a@v1.0.0-!rc" {
		t.Errorf("got %+v", got)
	}
}

// fakeGo stands in for the go command: nothing is in its module cache, and a build of it takes a while.
const fakeGo = `#!/bin/sh
case $1 in
env) echo "$0.cache" ;;
mod) echo '{"Require": [{"Path": "m", "Version": "v1.0.0"}, {"Path": "n", "Version": "v1.0.0"}]}' ;;
list)
	echo 'go: downloading m v1.0.0' >&2; read go <"$0.step"
	printf 'std\t/\t\n\nm/p\t/\t\n' ;;
build)
	printf 'std\n' >&2; read go <"$0.step"
	echo 'p.go:1:1: broken' >&2; exit 3 ;;
esac
`

// steps lets the fake go take its next step once these words were shown.
type steps struct {
	bytes.Buffer
	pipe  string
	words []string
}

func (s *steps) Write(text []byte) (int, error) {
	if len(s.words) > 0 && bytes.Contains(text, []byte(s.words[0])) {
		s.words = s.words[1:]
		if err := os.WriteFile(s.pipe, []byte("\n"), 0o600); err != nil {
			return 0, err
		}
	}
	return s.Buffer.Write(text)
}

func TestRun_tells_both_steps_and_passes_on_errors_and_the_exit_code(t *testing.T) {
	program := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(program, []byte(fakeGo), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(program+".step", 0o600); err != nil {
		t.Fatal(err)
	}
	out := &steps{pipe: program + ".step", words: []string{"downloading module 1", "compiled 1"}}
	err := run(t.Context(), build{name: "all", program: program, packages: []string{"."}}, &display{name: "all", out: out, every: time.Millisecond})
	if err == nil || err.Error() != "exit status 3" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"all            downloading module 1 of at most 2, m v1.0.0; 0:00 so far\n", "all            compiled 1 of 2 packages; 0:00 so far\n", "\np.go:1:1: broken\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}
