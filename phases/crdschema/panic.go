package crdschema

import (
	"fmt"
	"runtime/debug"

	"github.com/capstan-capi/capstan/message"
)

// PanicError is a panic of a library. What it says may quote what was read.
type PanicError struct {
	What  any
	Stack []byte
}

func (e *PanicError) Error() string {
	return message.ShortenInside(fmt.Sprintf("it has ended in a panic: %v", e.What), maxText)
}

// Panicked makes an error of what was recovered, where that is done.
func Panicked(what any) error { return &PanicError{what, debug.Stack()} }
