package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/capstan-capi/capstan/message"
)

// Status is what a look tells: for a screen, in a line, and as JSON.
type Status interface {
	Write(out io.Writer, now time.Time) error
	Line() string
}

// Follow looks at each tick until ctx ends and shows what it sees. An error of
// the first look ends it; later ones are shown, and it goes on.
type Follow struct {
	Look func(context.Context) (Status, error)
	Show interface {
		// Status shows a status, and Error what kept one from being read.
		Status(Status, time.Time) error
		Error(error, time.Time) error
	}
	Now func() time.Time
	// Tick paces the looks.
	Tick <-chan time.Time
}

// Run ends without an error when ctx does.
func (f Follow) Run(ctx context.Context) error {
	for first := true; ctx.Err() == nil; first = false {
		if err := f.once(ctx, first); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-f.Tick:
		}
	}
	return nil
}

func (f Follow) once(ctx context.Context, first bool) error {
	status, err := f.Look(ctx)
	switch {
	case err == nil:
		return f.Show.Status(status, f.Now())
	case first || ctx.Err() != nil:
		return err
	}
	return f.Show.Error(err, f.Now())
}

// Screen draws on a terminal, each status over the one before.
type Screen struct {
	Out io.Writer
	// Size is asked before each drawing, for terminals that people resize.
	Size func() (columns, rows int)
	last []string
}

// Status draws a status.
func (s *Screen) Status(status Status, now time.Time) error {
	var text bytes.Buffer
	if err := status.Write(&text, now); err != nil {
		return err
	}
	s.last = strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	return s.draw("ctrl-c ends this", now)
}

// Error draws the last status, and below it why there is none that is newer.
func (s *Screen) Error(err error, now time.Time) error {
	return s.draw("as seen last: "+strings.ReplaceAll(err.Error(), "\n", ";"), now)
}

func (s *Screen) draw(foot string, now time.Time) error {
	const home, restOfLine, restOfScreen = "\x1b[H", "\x1b[K", "\x1b[J"
	columns, rows := s.Size()
	lines := s.last
	if room := max(rows-3, 1); len(lines) > room {
		lines = append(lines[:room:room], fmt.Sprintf("… %d more lines", len(s.last)-room))
	}
	var b strings.Builder
	b.WriteString(home)
	for _, line := range lines {
		b.WriteString(clipped(line, columns) + restOfLine + "\r\n")
	}
	b.WriteString(restOfLine + "\r\n" + clipped(now.UTC().Format(time.TimeOnly)+"Z  "+foot, columns) + restOfLine + restOfScreen)
	_, err := io.WriteString(s.Out, b.String())
	return err
}

// clipped keeps a line from wrapping, which would push the others off their places.
func clipped(line string, columns int) string {
	line = message.Line(line)
	if columns <= 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:columns-1]) + "…"
}

// Lines prints one line, or one JSON document, whenever something has changed.
type Lines struct {
	Out  io.Writer
	JSON bool
	last string
}

// Status prints a status that is not the one before.
func (l *Lines) Status(status Status, now time.Time) error {
	line := status.Line()
	if l.JSON {
		text, err := json.Marshal(status)
		if err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
		return l.print(string(text), "")
	}
	return l.print(line, now.UTC().Format(time.RFC3339)+" ")
}

// Error prints why there is no status; as JSON nothing, to keep each line a status.
func (l *Lines) Error(err error, now time.Time) error {
	if l.JSON {
		return nil
	}
	return l.print(strings.ReplaceAll(err.Error(), "\n", ";"), now.UTC().Format(time.RFC3339)+" ")
}

func (l *Lines) print(line, stamp string) error {
	if line == l.last {
		return nil
	}
	l.last = line
	_, err := fmt.Fprintln(l.Out, stamp+message.Line(line))
	return err
}
