package machine

import (
	"strings"
	"time"

	"github.com/capstan-capi/capstan/message"
)

// MaxMessage is how long a message to people may be, in bytes: what the API
// conventions of Kubernetes leave room for in a condition or an event.
const MaxMessage = 1024

// oneLine is what an error says, on one line: joined errors come on several.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Moment writes a time for people. Messages name moments, not durations, so
// that a message with nothing new to say stays the same.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Shorten cuts text as message.Shorten does, for packages that import this one anyway.
func Shorten(text string, bytes int) string { return message.Shorten(text, bytes) }
