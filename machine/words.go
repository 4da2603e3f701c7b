package machine

import (
	"strings"
	"time"
)

// MaxMessage is how long a message to people may be, in bytes: what the API
// conventions of Kubernetes leave room for in a condition or an event.
const MaxMessage = 1024

// oneLine is what an error says, on one line: joined errors come on several.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Moment writes a time for people. Messages name moments, not durations, so
// that a message with nothing new to say stays the same.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Shorten cuts text to so many bytes, between characters, and shows that it did.
func Shorten(text string, bytes int) string {
	const mark = "…"
	switch {
	case len(text) <= bytes:
		return text
	case bytes < len(mark):
		return ""
	}
	return strings.ToValidUTF8(text[:bytes-len(mark)], "") + mark
}
