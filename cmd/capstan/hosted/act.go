package hosted

import (
	"fmt"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	legacy "github.com/capstan-capi/capstan/machine/legacyoperator"
)

// Act is what people ask of the operator.
type Act string

// The acts. Pause and Resume are about one HostedCluster, or about the whole programme where none is named; the others are about one.
const (
	Pause  Act = "pause"
	Resume Act = "resume"
	Retry  Act = "retry"
	Revert Act = "revert"
	Cancel Act = "cancel" // takes a request for a revert back
)

// Plan is what an act would do or has done; its JSON is what -o json prints.
type Plan struct {
	Does Act `json:"does"`
	// HostedCluster is the one that it is about, empty for the whole programme.
	HostedCluster string `json:"hostedCluster,omitempty"`
	// Nothing says why there is nothing to do, empty where there is.
	Nothing string `json:"nothing,omitempty"`
	// Shows is what people are told before they agree.
	Shows string `json:"shows,omitempty"`
	// Done says that it is written, Confirmed that the operator says so. Unheard is why it has nothing to say.
	Done      bool   `json:"done"`
	Confirmed bool   `json:"confirmed"`
	Unheard   string `json:"unheard,omitempty"`
	// Says is what the operator says of the HostedCluster after that.
	Says string `json:"says,omitempty"`
	// Undo is the command that takes it back, Next what to look at.
	Undo string `json:"undo,omitempty"`
	Next string `json:"next,omitempty"`

	patch   change
	expects []expectation
}

// change is one write: a key of the ConfigMap's data, or else an annotation, that gets a value, or goes where it is nil.
type change struct {
	key     machine.Key
	name    string
	value   any
	version string
}

// command is a command of this family, about a HostedCluster or all.
func command(act string, key machine.Key) string {
	text := "capstan private-capi " + act
	if key != "" {
		text += " " + string(key)
	}
	return text
}

// Plan says what an act would write of what was seen, or that it is refused, and why.
func (s Seen) Plan(act Act, key machine.Key) (Plan, error) {
	plan := Plan{Does: act, HostedCluster: string(key), Next: command("status", key)}
	if key == "" {
		return s.planAll(plan)
	}
	h, err := s.find(key)
	if err != nil {
		return Plan{}, err
	}
	plan.patch = change{key: key, version: h.version}
	switch act {
	case Pause, Resume:
		plan = s.planPause(plan, h)
	case Retry:
		plan, err = s.planRetry(plan, h)
	case Revert:
		plan, err = s.planRevert(plan, h)
	case Cancel:
		plan, err = s.planCancel(plan, h)
	}
	return plan, err
}

// planAll pauses the whole programme, or ends that.
func (s Seen) planAll(plan Plan) (Plan, error) {
	p := s.Programme
	if p.Enabled.IsZero() {
		return Plan{}, &inspect.Error{
			What: "there is no ConfigMap " + p.ConfigMap + ", by which the programme is enabled and paused",
			Next: "create it, which enables the programme as of then; with data.paused \"true\" it begins paused",
		}
	}
	plan.patch = change{name: pausedKey, version: s.version}
	if plan.Does == Pause {
		plan.patch.value, plan.Undo = guards.MarkTrue, command("resume", "")
		plan.Shows = "Have no move begin of any HostedCluster, by key paused of ConfigMap " + p.ConfigMap + ".\n" + goesOn(p.LockedFor)
		if p.Paused {
			plan.Nothing = "the programme is paused already"
		}
	} else {
		plan.Undo = command("pause", "")
		plan.Shows = "Have moves begin again, one HostedCluster at a time, by taking key paused off ConfigMap " + p.ConfigMap + ".\n"
		if !p.Paused {
			plan.Nothing = "the programme is not paused"
		}
	}
	for _, h := range s.Clusters {
		then := h.Facts
		then.Programme.Paused = plan.Does == Pause
		plan.expects = append(plan.expects, expect(h, then)...)
	}
	if len(plan.expects) == 0 {
		plan.Unheard = "no HostedCluster waits for its turn, so that the operator has nothing to say of it"
	}
	return plan, nil
}

// goesOn tells of the move that a pause does not stop.
func goesOn(lockedFor string) string {
	if lockedFor == "" {
		return ""
	}
	return "The move of HostedCluster " + lockedFor + ", which is under way, goes on.\n"
}

// planPause pauses one HostedCluster, or ends that.
func (s Seen) planPause(plan Plan, h Hosted) Plan {
	then := h.Facts
	then.Marks.Paused = plan.Does == Pause
	plan.patch.name = guards.PausedAnnotation
	if plan.Does == Pause {
		plan.patch.value, plan.Undo = guards.MarkTrue, command("resume", h.Key())
		plan.Shows = "Have no move of " + h.Facts.Cluster.String() + " begin, by annotation " + guards.PausedAnnotation + ". Others are moved.\n"
		if h.Facts.Marks.Locked() {
			plan.Shows += "The move that is under way goes on; it counts for the next one.\n"
		}
		if h.Facts.Marks.Paused {
			plan.Nothing = h.Facts.Cluster.String() + " is paused already"
		}
	} else {
		plan.Undo = command("pause", h.Key())
		plan.Shows = "Have " + h.Facts.Cluster.String() + " take its turn again, by taking annotation " + guards.PausedAnnotation + " off.\n"
		if s.Programme.Paused {
			plan.Shows += "The programme is paused as well, so that no move begins before: " + command("resume", "") + "\n"
		}
		if !h.Facts.Marks.Paused {
			plan.Nothing = h.Facts.Cluster.String() + " is not paused"
		}
	}
	return plan.expecting(h, then)
}

// planRetry asks for another try.
func (s Seen) planRetry(plan Plan, h Hosted) (Plan, error) {
	m := h.Facts.Marks
	switch {
	case h.Facts.Cluster.Deleting:
		return Plan{}, refused(h, "it is being deleted", "leave it: what is being deleted is not moved")
	case m.Locked():
		return Plan{}, refused(h, "it is locked: a move is under way", command("explain", h.Key())+" says how it stands")
	case m.Failed == "":
		return Plan{}, refused(h, "no move of it has failed", command("explain", h.Key())+" says what it waits for")
	}
	then := h.Facts
	then.Marks.Failed = ""
	plan.patch.name = guards.FailedAnnotation
	plan.Undo = command("pause", h.Key())
	plan.Shows = fmt.Sprintf("Have %s moved when its turn comes again, by taking annotation %s off, which says %s.\n%s\n",
		h.Facts.Cluster, guards.FailedAnnotation, m.Failed, adviceFor(m.Failed).means)
	if m.Failed == guards.Reverted {
		plan.Shows += "It was moved back because somebody asked for it, and is moved to private types again.\n"
	}
	if m.Paused || s.Programme.Paused {
		plan.Shows += "It is paused, so that no move begins before that ends: " + s.resumes(h) + "\n"
	}
	if h.Said.State == guards.Failed {
		plan.expects = []expectation{{key: h.Key(), left: guards.Failed}}
	}
	return plan.unheard(h), nil
}

// resumes is the command that ends what pauses a HostedCluster.
func (s Seen) resumes(h Hosted) string {
	if h.Facts.Marks.Paused {
		return command("resume", h.Key())
	}
	return command("resume", "")
}

// planRevert asks for a move back to the standard types.
func (s Seen) planRevert(plan Plan, h Hosted) (Plan, error) {
	m, by := h.Facts.Marks, h.Facts.Marks.Owner().By
	switch {
	case h.Facts.Cluster.Deleting:
		return Plan{}, refused(h, "it is being deleted", "leave it: what is being deleted is not moved")
	case m.Locked():
		return Plan{}, refused(h, "it is locked: a move is under way", "wait until that has ended, and look again: "+command("status", h.Key()))
	case m.Failed != "":
		return Plan{}, refused(h, "a move of it has failed: "+string(m.Failed), "put right what the reason says, then "+command("retry", h.Key()))
	case by != guards.New:
		return Plan{}, refused(h, "it is not on private types: "+whose(by)+" reconciles it", command("explain", h.Key())+" says what it waits for")
	case s.Programme.OldOperator != "" && s.Programme.OldOperator != legacy.Needed:
		return Plan{}, refused(h, "the old operator is not kept any more", "capstan status --machine legacyoperator says since when")
	}
	then := h.Facts
	then.Marks.Revert = true
	plan.patch.name, plan.patch.value = guards.RevertAnnotation, guards.MarkTrue
	plan.Undo = command("revert --cancel", h.Key())
	plan.Shows = "Have " + h.Facts.Cluster.String() + " moved back to the standard types, by annotation " + guards.RevertAnnotation + ".\n" +
		"For the 5 to 15 minutes of the move its data plane is not scaled and not repaired. Afterwards it stays with the old operator.\n"
	if m.Paused || s.Programme.Paused {
		plan.Shows += "It is paused, so that no move begins before that ends: " + s.resumes(h) + "\n"
	}
	if m.Revert {
		plan.Nothing = "somebody has asked for " + h.Facts.Cluster.String() + " to be moved back already"
	}
	plan = plan.expecting(h, then)
	then.Programme.OldOperatorNeeded = false
	for i := range plan.expects {
		plan.expects[i].refused = guards.TurnIsOurs.Answer(then).Reason
	}
	return plan, nil
}

// planCancel takes a request for a move back away before that begins.
func (s Seen) planCancel(plan Plan, h Hosted) (Plan, error) {
	m := h.Facts.Marks
	if m.Locked() && m.Companion.Direction == guards.ToStandard {
		return Plan{}, refused(h, "the move back has begun, and goes on to its end", "wait until it is done, then "+command("retry", h.Key())+" has it moved to private types again")
	}
	then := h.Facts
	then.Marks.Revert = false
	plan.patch.name = guards.RevertAnnotation
	plan.Undo = command("revert", h.Key())
	plan.Shows = "Take back that " + h.Facts.Cluster.String() + " is to be moved back to the standard types, by taking annotation " + guards.RevertAnnotation + " off.\n"
	if !m.Revert {
		plan.Nothing = "nobody has asked for " + h.Facts.Cluster.String() + " to be moved back"
	}
	return plan.expecting(h, then), nil
}

// refused says why an act would be in vain.
func refused(h Hosted, why, next string) error {
	return &inspect.Error{What: h.Facts.Cluster.String() + " is left as it is, because " + why, Next: next}
}
