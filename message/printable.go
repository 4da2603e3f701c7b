package message

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes one line of a text that somebody else has written: what cannot be printed is replaced, as it could
// begin another line or control a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return utf8.RuneError
	}, text)
}

// PrintableLines is Printable for each line of a text.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}
