package rewrite

import (
	"fmt"
	"net/http"
)

// Error says why a request or a body is not rewritten. The text is for people:
// it names what was found and the next step. None of what it is about may be
// acted upon.
type Error struct {
	// Code is the status a client is to be answered, while it can be: of a
	// server's answer it says 502.
	Code int
	// Text is one or two sentences.
	Text string
	// Offset is where in a body it was found, in bytes; -1 outside of bodies.
	Offset int64
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Text
	}
	return fmt.Sprintf("%s (at byte %d)", e.Text, e.Offset)
}

// ambiguous refuses what can be read in two ways.
func ambiguous(format string, args ...any) *Error {
	return &Error{Code: http.StatusBadRequest, Text: fmt.Sprintf(format, args...), Offset: -1}
}

// wrongGroup refuses a group that a client may see in references, but not address: its
// objects are the platform's. It is nil for any other group.
func wrongGroup[T string | []byte](group T, code int) *Error {
	start, row, match := find(ToServer, group)
	if match != Mapped || bases[row].client == Standard {
		return nil
	}
	right := string(group[:start]) + Standard
	return &Error{
		Code:   code,
		Text:   fmt.Sprintf("group %s cannot be addressed here: it is not this client's own; use group %s", string(group), right),
		Offset: -1,
	}
}

// code tells whose fault a body is.
func (d Direction) code() int {
	if d == ToServer {
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

// Broken is the error of a body whose translation has panicked. The next body may
// be fine.
func Broken(d Direction, cause any) *Error {
	return &Error{
		Code: d.code(), Offset: -1,
		Text: fmt.Sprintf("the body meets a fault of the translation, which is to be reported: %v", cause),
	}
}
