// Package message holds what every text for people has in common, whatever part of Capstan writes it. Every package may
// import it; it imports none.
package message

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Shorten cuts text to at most so many bytes, between characters, and ends what it has cut in "…". What it returns is
// valid UTF-8 even if text is not, so the API stores exactly the same text.
func Shorten(text string, bytes int) string {
	const mark = "…"
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	switch {
	case len(text) <= bytes:
		return text
	case bytes < len(mark):
		return ""
	}
	end := bytes - len(mark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// Duration writes 5m rather than 5m0s.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
