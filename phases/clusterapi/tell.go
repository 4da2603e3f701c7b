package clusterapi

import (
	"errors"
	"fmt"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
)

// aboutImages is the condition that tells how provider images stand.
const aboutImages = "RevisionControllerProgressing"

// Tell adds to the conditions how every image stands that is wanted and not at hand, and what works worse than it
// should; where all is well it adds nothing.
func (p *Phases) Tell(describe func(machine.Record, guards.Facts) []Condition) func(machine.Record, guards.Facts) []Condition {
	return func(record machine.Record, facts guards.Facts) []Condition {
		conditions := describe(record, facts)
		for i := range conditions {
			if conditions[i].Type == aboutImages {
				conditions[i].Message = joined(conditions[i].Message, imageTexts(p.wanted, p.Images.State), p.Images.Warning())
			}
		}
		return conditions
	}
}

// imageTexts is a phrase for each image that is not at hand. A phrase changes when something happens, not as time
// passes, and an image that is tried again is told as failed until it is there.
func imageTexts(wanted []images.Ref, state func(images.Ref) images.State) string {
	var texts []string
	for _, ref := range wanted {
		s := state(ref)
		switch failure, failed := errors.AsType[*images.Error](s.Err); {
		case s.Phase == images.Ready:
		case failed && s.NextTry.IsZero():
			texts = append(texts, fmt.Sprintf("%s failed (%s), tried again when an input changes", ref.Short(), failure.Kind))
		case failed:
			texts = append(texts, fmt.Sprintf("%s failed (%s), next try at %s", ref.Short(), failure.Kind, machine.Moment(s.NextTry)))
		case s.Phase == images.Fetching:
			texts = append(texts, fmt.Sprintf("%s fetching since %s", ref.Short(), machine.Moment(s.Since)))
		default:
			texts = append(texts, ref.Short()+" waiting")
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("images: %d of %d ready, %s", len(wanted)-len(texts), len(wanted), strings.Join(texts, ", "))
}

// joined adds images and a warning to a message as far as there is room; a warning is never crowded out by images.
func joined(message, states, warning string) string {
	if warning != "" {
		warning = machine.Shorten("; warning: "+warning, machine.MaxMessage-len(message))
	}
	if states != "" {
		states = machine.Shorten("; "+states, machine.MaxMessage-len(message)-len(warning))
	}
	return strings.TrimPrefix(message+states+warning, "; ")
}
