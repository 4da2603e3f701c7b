package compatibility

import (
	"strings"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

// maxTold bounds the text of a condition, in bytes.
const maxTold = 8 << 10

// The conditions of a requirement, beside its State and Record, and the reasons that the API does not name.
const (
	Progressing = "Progressing"
	Admitted    = "Admitted"
	Compatible  = "Compatible"

	OwnershipConflict  = "OwnershipConflict"
	CheckerUnavailable = "CheckerUnavailable"
	ConfigurationError = "ConfigurationError"
	TransientError     = "TransientError"
	UpToDate           = "UpToDate"
)

// Conditions derives what people and machines are told of a requirement. Admitted and Compatible are left out as long as
// nobody can tell: what was said before stays.
func Conditions(s phases.Snapshot) []phases.Condition {
	conditions := []phases.Condition{progressing(s)}
	if !enforcing(s) || s.Facts.Hooks.Known {
		conditions = append(conditions, admitted(s))
	}
	if s.Facts.CRD.Seen {
		conditions = append(conditions, compatible(s))
	}
	return conditions
}

func progressing(s phases.Snapshot) phases.Condition {
	c := phases.Condition{Type: Progressing, Message: Line(s)}
	state, failure := s.Record.State, s.Record.Failure
	switch {
	case state == Refused, failure != nil && failure.Terminal:
		c.Reason = ConfigurationError
	case state == Conflicted:
		c.Reason = OwnershipConflict
	case state == Open:
		c.Is, c.Reason = true, CheckerUnavailable
	case failure != nil:
		c.Is, c.Reason = true, TransientError
	case enforcing(s):
		c.Reason = UpToDate
	default:
		c.Is, c.Reason = true, string(Arming)
	}
	return c
}

// enforcing says that the requirement is in force, by what the machine remembers.
func enforcing(s phases.Snapshot) bool { return s.Record.State == Met || s.Record.State == Unmet }

func admitted(s phases.Snapshot) phases.Condition {
	if enforcing(s) {
		return phases.Condition{Type: Admitted, Is: true, Reason: Admitted, Message: "the requirement is in force"}
	}
	missing := strings.Join(s.Facts.Hooks.Missing, "; ")
	if missing == "" {
		missing = Line(s)
	}
	return phases.Condition{Type: Admitted, Reason: "NotAdmitted", Message: machine.Shorten(missing, maxTold)}
}

func compatible(s phases.Snapshot) phases.Condition {
	crd := s.Facts.CRD
	c := phases.Condition{Type: Compatible}
	switch {
	case crd.Absent:
		c.Reason, c.Message = "CRDNotFound", "CRD "+crd.Name+" does not exist"
	case len(crd.Missing) > 0:
		c.Reason, c.Message = "RequirementsNotMet", crdschema.Text(crd.Missing, maxTold)
	case len(crd.Warnings) > 0:
		c.Is, c.Reason, c.Message = true, "CompatibleWithWarnings", crdschema.Text(crd.Warnings, maxTold)
	default:
		c.Is, c.Reason, c.Message = true, Compatible, "CRD "+crd.Name+" has what is needed"
	}
	return c
}

// Line says in one line of at most 1 KiB how a requirement stands, what it waits for, since when, and what happens by
// itself and when. The condition State, log, Events and commands show this same text.
func Line(s phases.Snapshot) string {
	return phases.Line(s.Record, waits(s))
}

// waits is what is said of a state in place of what its moves wait for.
func waits(s phases.Snapshot) string {
	away := ""
	if s.Facts.CheckerSeen && !s.Facts.CheckerReady {
		away = "; no replica of Deployment " + phases.Service + " is ready: what it denies is refused unanswered, and passes with capstan disarm --yes"
	}
	switch {
	case s.Record.Failure != nil:
		return ""
	case s.Record.State == Met:
		return "CRD " + s.Facts.CRD.Name + " has what is needed" + away
	case s.Record.State == Unmet && s.Facts.CRD.Absent:
		return "CRD " + s.Facts.CRD.Name + " does not exist" + away
	case s.Record.State == Unmet:
		return crdschema.Text(s.Facts.CRD.Missing, machine.MaxMessage/2) + away
	case s.Record.State == Refused:
		return s.Facts.Spec.Problem
	case s.Record.State == Open:
		why := "no replica of Deployment " + phases.Service + " is ready"
		if s.Facts.CheckerReady {
			why = "a replica of Deployment " + phases.Service + " is ready only since less than a minute ago"
		}
		return "nothing is refused for this requirement, since " + why + "; it is armed again by itself once one has been ready for a minute"
	}
	return strings.Join(s.Facts.Hooks.Missing, "; ")
}
