package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// follow plays looks, one per tick, and ends the context with the last.
func follow(t *testing.T, show interface {
	Status(Status, time.Time) error
	Error(error, time.Time) error
}, looks ...func() (Status, error),
) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tick := make(chan time.Time, len(looks))
	for range looks {
		tick <- now
	}
	left := looks
	return Follow{
		Look: func(context.Context) (Status, error) {
			if len(left) == 0 {
				cancel()
				return nil, ctx.Err()
			}
			look := left[0]
			left = left[1:]
			return look()
		},
		Show: show, Now: func() time.Time { return now }, Tick: tick,
	}.Run(ctx)
}

func sees(v View) func() (Status, error) {
	return func() (Status, error) { return v.Status, nil }
}

func meets(text string) func() (Status, error) {
	return func() (Status, error) { return nil, errors.New(text) }
}

func TestFollow_prints_a_line_for_each_change_and_survives_a_gap(t *testing.T) {
	var out bytes.Buffer
	other := seen(fmt.Sprintf(`{"clusterapi":%s,"clusterapiDetail":{"waits":"Applying goes on"}}`, record))
	err := follow(t, &Lines{Out: &out}, sees(full()), sees(full()), meets("the API server\nis away"), meets("the API server\nis away"), sees(other))
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, out.String(), "follow.txt")
}

func TestFollow_prints_a_document_per_line_as_JSON(t *testing.T) {
	var out bytes.Buffer
	if err := follow(t, &Lines{Out: &out, JSON: true}, sees(full()), sees(full()), meets("away"), sees(seen(`{}`))); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], `{"state":"Applying"`) || !strings.HasPrefix(lines[1], `{"state":""`) {
		t.Errorf("got %d lines:\n%s", len(lines), out.String())
	}
}

func TestFollow_ends_when_the_first_look_fails(t *testing.T) {
	if err := follow(t, &Lines{Out: &bytes.Buffer{}}, meets("forbidden")); err == nil || err.Error() != "forbidden" {
		t.Errorf("got %v", err)
	}
}

func TestScreen_draws_within_the_terminal(t *testing.T) {
	for name, size := range map[string][2]int{"wide": {200, 60}, "small": {40, 8}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			screen := &Screen{Out: &out, Size: func() (int, int) { return size[0], size[1] }}
			if err := follow(t, screen, sees(full()), meets("the API server is away")); err != nil {
				t.Fatal(err)
			}
			drawings := strings.Split(out.String(), "\x1b[H")[1:]
			if len(drawings) != 2 || !strings.Contains(drawings[1], "as seen last") {
				t.Fatalf("got %d drawings: %q", len(drawings), out.String())
			}
			for _, drawing := range drawings {
				lines := strings.Split(drawing, "\r\n")
				if len(lines) > size[1] {
					t.Errorf("%d lines on %d rows", len(lines), size[1])
				}
				for _, line := range lines {
					line = strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(line)
					if n := len([]rune(line)); n > size[0] {
						t.Errorf("%d characters in %d columns: %s", n, size[0], line)
					}
				}
			}
		})
	}
}

func TestFollow_lets_no_text_of_a_cluster_control_the_terminal(t *testing.T) {
	other := seen(fmt.Sprintf(`{"clusterapi":%s,"clusterapiDetail":{"waits":"\\u001b]52;c;AAAA\\u0007"}}`, record))
	for name, show := range map[string]func(*bytes.Buffer) interface {
		Status(Status, time.Time) error
		Error(error, time.Time) error
	}{
		"lines": func(out *bytes.Buffer) interface {
			Status(Status, time.Time) error
			Error(error, time.Time) error
		} {
			return &Lines{Out: out}
		},
		"screen": func(out *bytes.Buffer) interface {
			Status(Status, time.Time) error
			Error(error, time.Time) error
		} {
			return &Screen{Out: out, Size: func() (int, int) { return 200, 50 }}
		},
	} {
		var out bytes.Buffer
		if err := follow(t, show(&out), sees(other), meets("\x1b]52;c;BBBB\x07")); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.Contains(text, "\x1b]") || strings.Contains(text, "\x07") || !strings.Contains(text, "\ufffd]52;c;BBBB") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
