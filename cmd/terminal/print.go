package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode"

	"github.com/capstan-capi/capstan/message"
)

// Seen is what a command has seen, as people read it at a moment.
type Seen interface {
	Write(out io.Writer, now time.Time) error
}

// CheckOutput checks a flag --output.
func CheckOutput(output string) error {
	if output != "text" && output != "json" {
		return fmt.Errorf("--output %q is neither text nor json", output)
	}
	return nil
}

// Tell prints what was seen at a moment, as text whose control characters no terminal obeys, or as JSON.
func Tell(out io.Writer, output string, seen Seen, now time.Time) error {
	if output == "json" {
		return JSON(out, seen)
	}
	var text bytes.Buffer
	if err := seen.Write(&text, now); err != nil {
		return err
	}
	_, err := io.WriteString(out, message.Lines(text.String()))
	return err
}

// JSON prints JSON over several lines.
func JSON(out io.Writer, value any) error { return write(out, value, "  ") }

// JSONLine prints JSON in one line.
func JSONLine(out io.Writer, value any) error { return write(out, value, "") }

// write escapes everything that could control a terminal, which is the same JSON: what was read of a cluster, or of an archive, anybody
// may have written.
func write(out io.Writer, value any, indent string) error {
	var text, plain bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	for _, r := range text.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			plain.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&plain, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&plain, `\u%04x`, r)
		}
	}
	_, err := out.Write(plain.Bytes())
	return err
}
