package main

import (
	"bytes"
	"io"
	"time"

	"github.com/capstan-capi/capstan/message"
)

// tell prints what was seen at a moment, as text whose control characters no terminal obeys, or as JSON.
func tell(out io.Writer, output string, seen interface {
	Write(out io.Writer, now time.Time) error
}, now time.Time,
) error {
	if output == "json" {
		return printJSON(out, seen)
	}
	var text bytes.Buffer
	if err := seen.Write(&text, now); err != nil {
		return err
	}
	_, err := io.WriteString(out, message.Lines(text.String()))
	return err
}
