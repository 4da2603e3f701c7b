package machine

import "errors"

// terminal is what an error says that trying again cannot heal. Packages that
// must not import this one give their errors the same method.
type terminal interface{ Terminal() bool }

// TerminalError wraps an error that only a changed input can heal.
type TerminalError struct{ Err error }

func (e *TerminalError) Error() string { return e.Err.Error() }
func (e *TerminalError) Unwrap() error { return e.Err }

// Terminal says that this error is for good.
func (e *TerminalError) Terminal() bool { return true }

// Terminal marks an error as one that only a changed input can heal.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &TerminalError{err}
}

// IsTerminal reports whether err, or an error it wraps, is for good. Of errors
// joined together one that may heal by itself is enough to go on trying.
func IsTerminal(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs := joined.Unwrap()
		for _, e := range errs {
			if !IsTerminal(e) {
				return false
			}
		}
		return len(errs) > 0
	}
	var t terminal
	return errors.As(err, &t) && t.Terminal()
}
