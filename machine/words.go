package machine

import (
	"strings"
	"time"

	"github.com/capstan-capi/capstan/message"
)

// MaxMessage bounds a message to people, in bytes: Kubernetes allows no more in
// the note of an Event.
const MaxMessage = 1024

// oneLine returns the text of an error on one line; joined errors have several.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Moment writes a time for people. Messages name moments, not durations, so that
// a message does not change as time passes.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// short writes a duration as message.Duration does.
func short(d time.Duration) string { return message.Duration(d) }

// Shorten cuts text as message.Shorten does, for packages that import this one anyway.
func Shorten(text string, bytes int) string { return message.Shorten(text, bytes) }

// ShortenLines is Shorten for text of several lines.
func ShortenLines(text string, bytes int) string { return message.ShortenLines(text, bytes) }

// ShortenLinesInside is ShortenLines of a text of which both ends tell something.
func ShortenLinesInside(text string, bytes int) string {
	return message.ShortenLinesInside(text, bytes)
}
