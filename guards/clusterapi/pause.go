package clusterapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// PauseAsked is the event that leads to Paused.
const PauseAsked machine.Event = "PauseAsked"

// Pause tells whether the administrator has paused the machine, and in Why who, until when and what for, or why an act
// that is there does not count.
type Pause struct {
	Stands bool   `yaml:"stands"`
	Why    string `yaml:"why"`
}

// PauseStands asks whether nothing may be written now.
var PauseStands = machine.Guard[Facts]{
	Name: "PauseStands",
	Doc:  "There is a ClusterAPI with an act that pauses the machine, which is written as it should be, does not come from more than a minute ahead, and has not ended.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.ClusterAPI && f.Pause.Stands {
			return machine.SayYes(f.Pause.Why)
		}
		why := f.Pause.Why
		if !f.ClusterAPI {
			why = "ClusterAPI cluster does not exist"
		}
		return machine.SayNo(unless(f.Then.Event != PauseAsked, why))
	}),
}

// Act is what somebody asks for by an annotation of the ClusterAPI.
type Act struct {
	Name string `json:"name"`
	// About says in a few words which objects it is about, empty for all.
	About  string    `json:"about,omitempty"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Revision is the number of the one that it is about, 0 for none.
	Revision int64 `json:"revision,omitempty"`
	// Waits says what it waits for before it counts, which is soon.
	Waits string `json:"waits,omitempty"`
	// Same says of a pin that the list of images asks for the same by now.
	Same bool `json:"same,omitempty"`
	// Unclear says of a pin why nobody can tell yet whether the list asks for the same.
	Unclear string `json:"unclear,omitempty"`
	// Void says why it does not count, empty while it does; Ended that time has ended it, or else its Use.
	Void  string `json:"void,omitempty"`
	Ended bool   `json:"ended,omitempty"`
	Used  bool   `json:"used,omitempty"`
	// Unproved says that no admission policy has held By against who wrote it.
	Unproved bool `json:"unproved,omitempty"`
}

// String tells of it in a sentence without a full stop.
func (a Act) String() string {
	if a.By == "" {
		return fmt.Sprintf("act %s is void: %s", a.Name, a.Void)
	}
	text := a.Name
	if a.About != "" {
		text += " of " + a.About
	}
	if a.Revision > 0 {
		text += fmt.Sprintf(" to revision %d", a.Revision)
	}
	text += fmt.Sprintf(" by %s since %s", a.By, machine.Moment(a.At))
	switch {
	case !a.Until.IsZero():
		text += " until " + machine.Moment(a.Until)
	case a.Revision > 0:
		text += " until the list of images changes"
	}
	text += ": " + a.Reason
	if a.Unproved {
		text += " (who it was is unproved: the admission policy capstan-acts is missing, or is not as this release has it)"
	}
	switch {
	case a.Used:
		text += " (used)"
	case a.Ended:
		text += endedText(a.Void)
	case a.Void != "":
		text += " (void: " + a.Void + ")"
	case a.Waits != "":
		text += " (not taken up yet: " + a.Waits + ")"
	case a.Unclear != "":
		text += " (whether the list of images asks for the same cannot be told: " + a.Unclear + ")"
	case a.Same:
		text += " (the list of images asks for the same)"
	}
	return text
}

// endedText tells what has ended an act.
func endedText(why string) string {
	switch how, is := strings.CutPrefix(why, "it "); {
	case why == "":
		return " (ended)"
	case is && strings.HasPrefix(how, "ended "):
		return " (" + how + ")"
	}
	return " (ended: " + why + ")"
}
