package tutorial_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// root is the folder that a reader works in.
const root = "../.."

// endGrace is how long what runs in the first terminal may take to end.
const endGrace = time.Minute

// environment is a reader's: nothing in it comes from how the test was started.
func environment() []string {
	var mine []string
	for _, entry := range os.Environ() {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "KUBECONFIG", "RELEASE_VERSION", "BASH_ENV", "ENV":
		default:
			mine = append(mine, entry)
		}
	}
	return mine
}

// terminal is one that a reader types into. All that is run in it is in one process group.
type terminal struct {
	command *exec.Cmd
	output  string
	exited  chan struct{}
	err     error
}

// open starts a program with its output in a file, from which it is read.
func open(t *testing.T, name string, arguments ...string) (*terminal, io.WriteCloser) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	x := &terminal{command: exec.Command(name, arguments...), output: out.Name(), exited: make(chan struct{})}
	x.command.Dir, x.command.Env, x.command.Stdout, x.command.Stderr = root, environment(), out, out
	x.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := x.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		x.err = x.command.Wait()
		close(x.exited)
	}()
	t.Cleanup(x.end)
	return x, in
}

// signal reaches all that runs in the terminal, as ctrl-c does.
func (x *terminal) signal(signal syscall.Signal) {
	_ = syscall.Kill(-x.command.Process.Pid, signal) // what is gone needs no signal
}

// end has everything in the terminal end, in order if it can.
func (x *terminal) end() {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		x.signal(signal)
		select {
		case <-x.exited:
			return
		case <-time.After(endGrace):
		}
	}
}

// printed is what the terminal shows so far, from an offset on.
func (x *terminal) printed(from int) (string, error) {
	text, err := os.ReadFile(x.output)
	if err != nil {
		return "", err
	}
	return string(text[min(from, len(text)):]), nil
}

// shell is the second terminal: one bash, which remembers what a reader's remembers.
type shell struct {
	*terminal
	in   io.Writer
	seen int
}

func newShell(t *testing.T) *shell {
	t.Helper()
	x, in := open(t, "bash", "--noprofile", "--norc")
	return &shell{terminal: x, in: in}
}

// done is printed after each command.
const done = "\n--- the command has ended ---\n"

// run types a command, waits until it has ended, and returns what it printed.
func (s *shell) run(ctx context.Context, command string) (string, error) {
	// A command that reads has nothing to read: the rest of what is typed is not for it.
	if _, err := fmt.Fprintf(s.in, "{\n%s\n} </dev/null\nprintf %%s '%s'\n", command, done); err != nil {
		return "", fmt.Errorf("typing a command: %w", err)
	}
	var text string
	err := harness.Eventually(ctx, "the command to end", func(context.Context) error {
		select {
		case <-s.exited:
			return errors.New("the shell has ended")
		default:
		}
		all, err := s.printed(s.seen)
		if err != nil {
			return err
		}
		before, _, is := strings.Cut(all, done)
		if text = before; !is {
			return errors.New("it goes on")
		}
		s.seen += len(before) + len(done)
		return nil
	})
	return text, err
}
