package machine

import (
	"errors"
	"slices"
)

// terminal is implemented by errors that know whether trying again can heal
// them. Packages that must not import this one give their errors the same method.
type terminal interface{ Terminal() bool }

// TerminalError wraps an error that only a changed input can heal.
type TerminalError struct{ Err error }

func (e *TerminalError) Error() string { return e.Err.Error() }
func (e *TerminalError) Unwrap() error { return e.Err }

// Terminal is true: trying again ends the same.
func (e *TerminalError) Terminal() bool { return true }

// Terminal marks an error as one that only a changed input can heal.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &TerminalError{err}
}

// IsTerminal reports whether only a changed input can heal err. An error that
// has a word of its own on that, or wraps one that has, is taken at its word.
// Joined errors are terminal only if each of them is, whatever their own word
// and however they are wrapped: as long as one of them may heal by itself,
// trying again is worth it.
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
