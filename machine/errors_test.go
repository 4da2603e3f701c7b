package machine

import (
	"errors"
	"fmt"
	"testing"
)

// several is joined errors with a word of their own, such as those of a wave.
type several struct {
	errs []error
	word bool
}

func (s several) Error() string   { return errors.Join(s.errs...).Error() }
func (s several) Unwrap() []error { return s.errs }
func (s several) Terminal() bool  { return s.word }

// healing is an error that says of itself that it heals.
type healing struct{ error }

func (h healing) Unwrap() error { return h.error }
func (healing) Terminal() bool  { return false }

func TestIsTerminal_asks_every_error_that_is_joined(t *testing.T) {
	plain, terminal := errors.New("plain"), Terminal(errors.New("terminal"))
	wrapped := func(err error) error { return fmt.Errorf("applying: %w", err) }
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                              {nil, false},
		"no error marked":                       {Terminal(nil), false},
		"plain":                                 {plain, false},
		"terminal":                              {terminal, true},
		"terminal, wrapped":                     {wrapped(wrapped(terminal)), true},
		"one that heals around a terminal one":  {healing{terminal}, false},
		"all terminal":                          {errors.Join(terminal, wrapped(terminal)), true},
		"one of them plain":                     {errors.Join(terminal, plain), false},
		"one of them plain, wrapped":            {wrapped(errors.Join(terminal, plain)), false},
		"one of them plain, wrapped together":   {fmt.Errorf("%w after %w", terminal, plain), false},
		"one of them plain, nested":             {errors.Join(terminal, wrapped(errors.Join(terminal, plain))), false},
		"all terminal, nested":                  {errors.Join(terminal, wrapped(errors.Join(terminal, terminal))), true},
		"one of them plain, their own word yes": {several{[]error{terminal, plain}, true}, false},
		"the same, wrapped":                     {wrapped(several{[]error{terminal, plain}, true}), false},
		"all terminal, their own word no":       {wrapped(several{[]error{terminal, terminal}, false}), true},
		"none joined":                           {several{nil, true}, false},
		"joined, then marked":                   {Terminal(errors.Join(terminal, plain)), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsTerminal(row.err); got != row.want {
				t.Errorf("IsTerminal(%v) is %v", row.err, got)
			}
		})
	}
}
