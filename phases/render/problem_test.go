package render

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProblem_names_the_place_before_the_cause(t *testing.T) {
	for _, c := range []struct {
		problem Problem
		want    string
	}{
		{Problem{Cause: "too many"}, "too many"},
		{Problem{Image: "i", Profile: "p", File: "f", Document: 2, Line: 3, Path: "a.b", Object: "v1 Pod x", Cause: "bad"}, "image i, profile p, file f, document 2, line 3, v1 Pod x, field a.b: bad"},
	} {
		if got := c.problem.String(); got != c.want {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}

func TestProblemsError_is_terminal_also_when_wrapped(t *testing.T) {
	var terminal interface{ Terminal() bool }
	if err := fmt.Errorf("planning: %w", ProblemsError{{Cause: "bad"}}); !errors.As(err, &terminal) || !terminal.Terminal() {
		t.Errorf("%v must be terminal", err)
	}
}

func TestProblemsError_text_is_bounded_and_says_how_many_there_are(t *testing.T) {
	var many ProblemsError
	for i := range 1000 {
		many = append(many, Problem{Line: i + 1, Cause: strings.Repeat("ü", 300)})
	}
	for _, count := range []int{1, 2, 5, 1000} {
		text := many[:count].Error()
		if len(text) > maxText || !utf8.ValidString(text) {
			t.Errorf("%d problems make %d bytes, valid UTF-8: %v", count, len(text), utf8.ValidString(text))
		}
		if count > 1 && !strings.Contains(text, fmt.Sprintf("%d problems", count)) {
			t.Errorf("the text does not say that there are %d: %s", count, text)
		}
	}
	if text := many.Error(); !strings.HasSuffix(text, "; and 997 more") {
		t.Errorf("the text does not say how many it left out: %s", text)
	}
}

func TestProblem_is_one_line_that_commands_no_terminal(t *testing.T) {
	p := Problem{Object: "v1 Pod \x1b[2J", Path: "a\u2028b", Cause: "${a\n\tb\xff\x00} é 😀"}
	if got, want := p.String(), "v1 Pod \ufffd[2J, field a b: ${a  b\ufffd\ufffd} é 😀"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
