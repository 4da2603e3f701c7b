// Package tutorial_test types every command of docs/tutorial.md, in order, into shells as a reader has them, and compares what they
// print with what the page shows. It knows nothing of Capstan.
package tutorial_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var update = flag.Bool("update", false, "write what commands print to docs/tutorial.md where it shows something else")

const page = root + "/docs/tutorial.md"

const (
	// startPatience is how long the first terminal may take: it builds what has changed.
	startPatience = 10 * time.Minute
	// patience is how long one command may take.
	patience = 2 * time.Minute
)

// reader follows the page.
type reader struct {
	t      *testing.T
	first  *terminal
	second *shell
	// renewed are the lines that take the place of what a step shows, by its index.
	renewed map[int][]string
}

func TestTheTutorialShowsWhatItsReadersSee(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	steps, err := read(lines)
	if err != nil {
		t.Fatalf("docs/tutorial.md: %v", err)
	}
	if len(steps) < 20 {
		t.Fatalf("docs/tutorial.md has only %d steps", len(steps))
	}
	r := &reader{t: t, renewed: map[int][]string{}}
	begun := time.Now()
	for i, s := range steps {
		since := time.Now()
		shown, err := r.follow(t.Context(), s)
		t.Logf("docs/tutorial.md:%d  %s", s.line, time.Since(since).Round(time.Millisecond))
		if err != nil {
			t.Fatalf("docs/tutorial.md:%d: %s%s\n%v\nIt shows:\n%s", s.line, s.command, s.path, err, strings.Join(shown, "\n"))
		}
		if c := compare(s.shown, shown); !c.alike() {
			r.renewed[i] = c.renewed()
			if !*update {
				t.Errorf("docs/tutorial.md:%d shows something else than what\n%s\nprints (- on the page, + printed):\n%s", s.line, s.command, c.diff())
			}
		}
	}
	t.Logf("all of it took %s", time.Since(begun).Round(time.Second))
	if *update {
		r.write(lines, steps)
	}
}

// follow does what a step says, and returns what it shows.
func (r *reader) follow(ctx context.Context, s step) ([]string, error) {
	switch {
	case s.path != "":
		return nil, save(s)
	case s.first && s.command == ctrlC:
		return r.interrupt(ctx)
	case s.first:
		return r.begin(ctx, s)
	}
	if r.second == nil {
		r.second = newShell(r.t)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shown, err := r.second.run(ctx, s.command)
	return split(shown), err
}

func save(s step) error {
	return os.WriteFile(filepath.Join(root, s.path), []byte(s.content), 0o644)
}

// begin starts what goes on in the first terminal, and waits until that shows what the page does.
func (r *reader) begin(ctx context.Context, s step) ([]string, error) {
	r.first, _ = open(r.t, "bash", "--noprofile", "--norc", "-c", s.command)
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var shown []string
	err := harness.Eventually(ctx, "the first terminal to show what the page shows", func(context.Context) error {
		text, err := r.first.printed(0)
		if err != nil {
			return err
		}
		select {
		case <-r.first.exited:
			giveUp(errors.New("it has ended"))
		default:
		}
		shown = split(text)
		if c := compare(append(slices.Clone(s.shown), anything), shown); !c.alike() {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		return shown, err
	}
	return s.shown, nil
}

// interrupt presses ctrl-c in the first terminal, and returns what that shows until it has ended.
func (r *reader) interrupt(ctx context.Context) ([]string, error) {
	if r.first == nil {
		return nil, errors.New("nothing runs in the first terminal")
	}
	before, err := r.first.printed(0)
	if err != nil {
		return nil, err
	}
	r.first.signal(syscall.SIGINT)
	select {
	case <-r.first.exited:
	case <-time.After(endGrace):
		return nil, errors.New("it goes on")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := r.first.printed(len(before))
	return split(after), err
}

// write puts what was printed into the page.
func (r *reader) write(lines []string, steps []step) {
	for i, s := range slices.Backward(steps) {
		if renewed, is := r.renewed[i]; is {
			lines = slices.Replace(lines, s.from, s.to, renewed...)
		}
	}
	if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		r.t.Fatal(err)
	}
}
