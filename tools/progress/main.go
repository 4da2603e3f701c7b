// Command progress runs a go build that may take minutes and says how far it
// is: what is downloaded, how many packages are compiled of all that must be,
// and how long the rest may take at the rate so far. It says nothing about a
// build that takes no time. It uses nothing but the standard library, so that
// it works, and is soon compiled, before anything else is.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const usage = "usage: progress NAME go build [-FLAG[=VALUE]]... PACKAGE..."

func main() {
	build, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "progress: %v\n%s\n", err, usage)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, build, newDisplay(build.name, os.Stderr))
	stop()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(max(1, ended.ExitCode()))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "progress: %v\n", err)
		os.Exit(1)
	}
}

// build is a go build and what it is called.
type build struct {
	name, program   string
	flags, packages []string
}

func parse(arguments []string) (build, error) {
	if len(arguments) < 4 || arguments[2] != "build" {
		return build{}, errors.New("a name and a go build are wanted")
	}
	b := build{name: arguments[0], program: arguments[1]}
	for _, argument := range arguments[3:] {
		if strings.HasPrefix(argument, "-") {
			b.flags = append(b.flags, argument)
		} else {
			b.packages = append(b.packages, argument)
		}
	}
	if len(b.packages) == 0 {
		return build{}, errors.New("no package is named; a flag and its value are one argument")
	}
	return b, nil
}

// command is another go command about the same packages: with the flags of the
// build, of which -C must come first and -o is for a build only.
func (b build) command(ctx context.Context, verb string, more ...string) *exec.Cmd {
	arguments := []string{verb}
	for _, flag := range b.flags {
		if strings.HasPrefix(flag, "-C=") {
			arguments = append(arguments, flag)
		}
	}
	arguments = append(arguments, more...)
	for _, flag := range b.flags {
		if !strings.HasPrefix(flag, "-C=") && (verb == "build" || !strings.HasPrefix(flag, "-o=")) {
			arguments = append(arguments, flag)
		}
	}
	command := exec.CommandContext(ctx, b.program, append(arguments, b.packages...)...)
	// Interrupted, it ends what it has started.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	return command
}

// run downloads what is missing, which listing the packages does, and builds.
func run(ctx context.Context, b build, d *display) error {
	modules, err := missing(ctx, b)
	if err != nil {
		return err
	}
	var listed bytes.Buffer
	list := b.command(ctx, "list", "-deps", "-f", staleFormat)
	list.Stdout = &listed
	if err := follow(list, d, &downloads{atMost: modules}); err != nil {
		return err
	}
	compiling := newCompilation(listed.String(), sizeOf)
	compile := b.command(ctx, "build", "-v")
	compile.Stdout = os.Stdout
	return follow(compile, d, compiling)
}

// staleFormat prints what is not compiled yet: path, folder, files.
const staleFormat = "{{if .Stale}}{{.ImportPath}}\t{{.Dir}}\t{{range .GoFiles}}{{.}} {{end}}{{range .CgoFiles}}{{.}} {{end}}{{end}}"

func sizeOf(folder, file string) int64 {
	info, err := os.Stat(filepath.Join(folder, file))
	if err != nil {
		return 0
	}
	return info.Size()
}

// step is a part of the work, known by the lines of a go command.
type step interface {
	// takes says whether a line is about progress; others are for people.
	takes(line string) bool
	// text tells how far the work is after so much time.
	text(after time.Duration) string
}

// follow runs a command, tells its progress, and passes on what else it prints.
func follow(command *exec.Cmd, d *display, s step) error {
	stderr, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		reader := bufio.NewReader(stderr)
		for {
			line, err := reader.ReadString('\n')
			if line != "" {
				lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	started := time.Now()
	for {
		select {
		case line, more := <-lines:
			if !more {
				d.clear()
				return command.Wait()
			}
			if !s.takes(line) {
				d.pass(line)
			}
		case <-tick.C:
			d.show(s.text(time.Since(started)))
		}
	}
}

// display shows progress: on a terminal as one line that changes, and elsewhere
// as plain lines, not many of them.
type display struct {
	name     string
	out      io.Writer
	every    time.Duration
	terminal bool
	shown    bool
}

func newDisplay(name string, out *os.File) *display {
	d := &display{name: name, out: out, every: 10 * time.Second}
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		d.terminal, d.every = true, time.Second
	}
	return d
}

func (d *display) show(text string) {
	d.clear()
	if d.terminal {
		fmt.Fprintf(d.out, "%-14s %s", d.name, text)
		d.shown = true
		return
	}
	fmt.Fprintf(d.out, "%-14s %s\n", d.name, text)
}

// clear takes the changing line away.
func (d *display) clear() {
	if d.shown {
		fmt.Fprint(d.out, "\r\x1b[K")
		d.shown = false
	}
}

func (d *display) pass(line string) {
	d.clear()
	fmt.Fprintln(d.out, line)
}
