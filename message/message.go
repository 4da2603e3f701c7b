// Package message holds what every text for people has in common, whatever part of Capstan writes it. Every package may
// import it; it imports none.
package message

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// mark stands for what was cut.
const mark = "…"

// Line is text in one line that can be printed: spaces for what begins another line, and a mark for what cannot be
// printed. Names and texts of other servers, webhooks and images may have it anywhere, and it could control a terminal.
// It is valid UTF-8 even if text is not, so the API stores exactly the same text.
func Line(text string) string {
	if isPlain(text) {
		return text
	}
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

// isPlain says that all of a text can be printed as it is, as most can, which is found several times as fast for ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Shorten is Line of text, cut to at most so many bytes, between characters. What was cut ends in "…".
func Shorten(text string, bytes int) string { return cut(Line(text), bytes) }

// ShortenInside is Shorten of a text of which both ends tell something, as of the path of a field: "…" stands for what was
// cut out of its middle.
func ShortenInside(text string, bytes int) string { return cutInside(Line(text), bytes) }

// ShortenLinesInside is Lines of text, cut as ShortenInside does.
func ShortenLinesInside(text string, bytes int) string { return cutInside(Lines(text), bytes) }

func cutInside(text string, bytes int) string {
	switch {
	case len(text) <= bytes:
		return text
	case bytes < len(mark):
		return ""
	}
	head := (bytes - len(mark)) / 2
	tail := len(text) - (bytes - len(mark) - head)
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + mark + text[tail:]
}

// Lines is Line of each line of a text that may have several.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n")
}

// ShortenLines is Lines of text, cut as Shorten does.
func ShortenLines(text string, bytes int) string { return cut(Lines(text), bytes) }

func cut(text string, bytes int) string {
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
