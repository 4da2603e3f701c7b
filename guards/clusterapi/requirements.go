package clusterapi

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// Requirement is what was seen of a CompatibilityRequirement that a revision has derived, and of the
// CustomResourceDefinition that it is about.
type Requirement struct {
	// Name is the requirement's, Definition the name of what it is about.
	Name       string `yaml:"name"`
	Definition string `yaml:"definition"`
	// Unseen says why one of the two has not been seen yet, or is not as the revision has it; empty if both were.
	Unseen string `yaml:"unseen"`
	// Absent says why there is no requirement; empty if there is.
	Absent string `yaml:"absent"`
	// Generation is that of the requirement, which its conditions have to speak of.
	Generation int64       `yaml:"generation"`
	Conditions []Condition `yaml:"conditions"`
	// ObservedUID and ObservedGeneration are those of the definition that was judged.
	ObservedUID        string `yaml:"observedUID"`
	ObservedGeneration int64  `yaml:"observedGeneration"`
	// Live is the definition as the cluster has it.
	Live Definition `yaml:"live"`
}

// Condition is one of a requirement's.
type Condition struct {
	Type       string `yaml:"type"`
	Status     string `yaml:"status"`
	Reason     string `yaml:"reason"`
	Message    string `yaml:"message"`
	Generation int64  `yaml:"generation"`
}

// Definition is a CustomResourceDefinition of the cluster.
type Definition struct {
	Exists      bool   `yaml:"exists"`
	UID         string `yaml:"uid"`
	Generation  int64  `yaml:"generation"`
	Established bool   `yaml:"established"`
	Terminating bool   `yaml:"terminating"`
}

// The conditions that a requirement has, and the reason of one that was judged.
const (
	progressing = "Progressing"
	admitted    = "Admitted"
	compatible  = "Compatible"
	upToDate    = "UpToDate"
)

// ShapeMet asks whether a wave may be entered by this requirement on the shape of a definition: the requirement is in force
// as it stands, and was compared with the definition as that stands, which is usable.
func (r Requirement) ShapeMet() machine.Answer {
	if answer, seen := r.there(); !seen {
		return answer
	}
	switch {
	case !r.Live.Exists:
		return r.no("CustomResourceDefinition " + r.Definition + " does not exist; whoever it belongs to has to install it" + r.told(compatible))
	case r.Live.Terminating:
		return r.no("CustomResourceDefinition " + r.Definition + " is being deleted")
	case !r.Live.Established:
		return r.no("CustomResourceDefinition " + r.Definition + " is not Established")
	}
	if answer := r.InForce(); answer.Truth != machine.Yes {
		return answer
	}
	if r.ObservedUID != r.Live.UID || r.ObservedGeneration != r.Live.Generation {
		return r.unknown(fmt.Sprintf("generation %d of CustomResourceDefinition %s has not been compared with it yet", r.Live.Generation, r.Definition))
	}
	return r.CompatibleOnly()
}

// InForce asks whether the requirement is in force as it stands, whatever it says of the definition.
func (r Requirement) InForce() machine.Answer {
	if answer, seen := r.there(); !seen {
		return answer
	}
	done, known := r.condition(progressing)
	switch {
	case !known:
		return r.unjudged(progressing)
	case done.Status != "False" || done.Reason != upToDate:
		return r.no(done.said())
	}
	taken, known := r.condition(admitted)
	switch {
	case !known:
		return r.unjudged(admitted)
	case taken.Status != "True":
		return r.no(taken.said())
	}
	return machine.SayYes("")
}

// CompatibleOnly asks whether the definition meets the requirement, whoever sees to that.
func (r Requirement) CompatibleOnly() machine.Answer {
	if answer, seen := r.there(); !seen {
		return answer
	}
	found, known := r.condition(compatible)
	switch {
	case !known:
		return r.unjudged(compatible)
	case found.Status != "True":
		return r.no(found.said())
	}
	return machine.SayYes("")
}

// there answers where the requirement cannot be asked.
func (r Requirement) there() (machine.Answer, bool) {
	switch {
	case r.Absent != "":
		return r.no(r.Absent), false
	case r.Unseen != "":
		return r.unknown(r.Unseen), false
	}
	return machine.Answer{}, true
}

// condition is the requirement's condition of a type, if that speaks of its generation.
func (r Requirement) condition(of string) (Condition, bool) {
	for _, c := range r.Conditions {
		if c.Type == of {
			return c, c.Generation == r.Generation && c.Status != ""
		}
	}
	return Condition{}, false
}

func (c Condition) said() string {
	return strings.TrimRight(fmt.Sprintf("%s is %s, %s: %s", c.Type, c.Status, c.Reason, c.Message), ": ")
}

// told adds what a condition says that is not True.
func (r Requirement) told(of string) string {
	if c, known := r.condition(of); known && c.Status != "True" {
		return "; " + c.said()
	}
	return ""
}

func (r Requirement) unjudged(of string) machine.Answer {
	return r.unknown(fmt.Sprintf("condition %s does not speak of its generation %d yet", of, r.Generation))
}

// Named is what the reasons of answers begin with.
func (r Requirement) Named() string { return "CompatibilityRequirement " + r.Name + ": " }

func (r Requirement) no(why string) machine.Answer {
	return machine.SayNo(r.Named() + why)
}

func (r Requirement) unknown(why string) machine.Answer {
	return machine.SayUnknown(r.Named() + why)
}

// LeavesCRDs asks whether the newest revision needs definitions that it does not install.
var LeavesCRDs = machine.Guard[Facts]{
	Name: "LeavesCRDs",
	Doc:  "The newest revision renders CustomResourceDefinitions that are listed as unmanaged, so that it needs those that others install.",
	Ask: seen(func(f Facts) machine.Answer {
		if len(f.Unmanaged) == 0 {
			return machine.SayNo("")
		}
		return machine.SayYes(fmt.Sprintf("it needs CustomResourceDefinitions that others install: %d", len(f.Unmanaged)))
	}),
}

// unmetNamed is how many requirements a message tells of.
const unmetNamed = 3

// CRDsMeet asks whether the definitions that the newest revision leaves to others are as it needs them.
var CRDsMeet = machine.Guard[Facts]{
	Name: "CRDsMeet",
	Doc: "The newest revision leaves no CustomResourceDefinition to others, or each requirement on the shape of one is, at its current generation, in force and met by the definition as the cluster has it now, " +
		"which is Established and not being deleted.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case len(f.Unmanaged) == 0:
			return machine.SayYes("")
		case !f.RequirementsKnown:
			return machine.SayUnknown(f.Applied.Why)
		}
		return Unmet(f.Requirements)
	}),
}

// Unmet answers for requirements on shapes: No names those that are not met, Yes says that all are.
func Unmet(shapes []Requirement) machine.Answer {
	return together(shapes, Requirement.ShapeMet, "the CustomResourceDefinitions that others install are as they are needed")
}

// Unenforced answers for requirements on objects: No names those that are not in force, Yes says that all are.
func Unenforced(objects []Requirement) machine.Answer {
	return together(objects, Requirement.InForce, "objects of the CustomResourceDefinitions that others install are judged")
}

// together asks each requirement, and says what holds for all of them with their number.
func together(all []Requirement, ask func(Requirement) machine.Answer, holds string) machine.Answer {
	reasons := map[machine.Truth][]string{}
	for _, r := range all {
		answer := ask(r)
		reasons[answer.Truth] = append(reasons[answer.Truth], answer.Reason)
	}
	for _, truth := range []machine.Truth{machine.No, machine.Unknown} {
		if found := reasons[truth]; len(found) > 0 {
			text := strings.Join(found[:min(len(found), unmetNamed)], "; ")
			if more := len(found) - unmetNamed; more > 0 {
				text += fmt.Sprintf("; and %d more", more)
			}
			return machine.Answer{Truth: truth, Reason: text}
		}
	}
	return machine.SayYes(fmt.Sprintf("%s: %d", holds, len(all)))
}
