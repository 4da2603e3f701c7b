package events

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// Appeared is the Event of those things of now whose keys are not among those of
// before, as one Event; there is none if nothing is new.
func Appeared[T any](n Event, before, now []T, key func(T) string) []Event {
	known := map[string]bool{}
	for _, item := range before {
		known[key(item)] = true
	}
	var keys, texts []string
	for _, item := range now {
		if !known[key(item)] {
			keys, texts = append(keys, key(item)), append(texts, fmt.Sprint(item))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	n.Key = n.Reason + " " + strings.Join(keys, "; ")
	n.Text = machine.Shorten(strings.Join(texts, "; "), machine.MaxMessage)
	return []Event{n}
}
