package clusterapi

import (
	"fmt"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
)

// imageTexts is a phrase for each image that is not at hand. A phrase changes when something happens, not as time
// passes, and an image that is tried again is told as failed until it is there.
func imageTexts(states []guards.ImageState) string {
	var texts []string
	ready := 0
	for _, s := range states {
		switch {
		case s.NotNeeded:
		case s.Ready:
			ready++
		case s.Failure != "" && s.NextTry.IsZero():
			texts = append(texts, fmt.Sprintf("%s failed (%s), pulled again when another attempt is asked for", s.Name, s.Failure))
		case s.Failure != "":
			texts = append(texts, fmt.Sprintf("%s failed (%s), next try at %s", s.Name, s.Failure, machine.Moment(s.NextTry)))
		case s.Fetching:
			texts = append(texts, fmt.Sprintf("%s fetching since %s", s.Name, machine.Moment(s.Since)))
		default:
			texts = append(texts, s.Name+" waiting")
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("images: %d of %d ready, %s", ready, ready+len(texts), strings.Join(texts, ", "))
}

// withNotes adds details and a warning to a message as far as there is room; a warning is never crowded out by details.
// What the message ends with stays last.
func withNotes(message, last, details, warning string) string {
	room := machine.MaxMessage - len(message)
	message, ends := strings.CutSuffix(message, last)
	if !ends {
		last = ""
	}
	if warning != "" {
		warning = machine.Shorten("; warning: "+warning, room)
	}
	if details != "" {
		details = machine.Shorten("; "+details, room-len(warning))
	}
	return strings.TrimPrefix(message+details+warning+last, "; ")
}
