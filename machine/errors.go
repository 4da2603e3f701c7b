package machine

import (
	"errors"
	"slices"
)

// terminal is implemented by errors that know whether they are terminal, see
// [Terminal]. Packages that must not import this one give their errors the same method.
type terminal interface{ Terminal() bool }

// TerminalError wraps an error to make it terminal.
type TerminalError struct{ Err error }

func (e *TerminalError) Error() string { return e.Err.Error() }
func (e *TerminalError) Unwrap() error { return e.Err }

// Terminal is true, whatever the wrapped error says.
func (e *TerminalError) Terminal() bool { return true }

// Terminal marks an error that trying again soon does not heal: somebody has to
// change an input or the cluster. The failure edge is taken at once. The work is
// tried again when an input changes, and every ten minutes, because not every
// change of the cluster comes with an event.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &TerminalError{err}
}

// IsTerminal reports whether err is terminal. An error with a method Terminal
// decides that itself, also when it is wrapped. Joined errors are terminal only
// if each of them is, whatever methods they have and however they are wrapped:
// as long as one of them may heal by itself, trying again soon is worth it.
func IsTerminal(err error) bool {
	for err != nil {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			errs := joined.Unwrap()
			return len(errs) > 0 && !slices.ContainsFunc(errs, func(e error) bool { return !IsTerminal(e) })
		}
		if t, ok := err.(terminal); ok {
			return t.Terminal()
		}
		err = errors.Unwrap(err)
	}
	return false
}
