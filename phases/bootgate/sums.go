package bootgate

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// maxNamed bounds a list of targets in a message, in bytes.
const maxNamed = 512

// Sums are how many of the enrolled targets are where, and which of them people have to know by name.
type Sums struct {
	// Kinds are the sums of each kind, sorted by API and kind.
	Kinds []KindSum
	// Skipped and Stuck are the targets that are skipped and count, and those that are Failed or in a HotLoop, sorted by name.
	Skipped, Stuck []Told
	// Waiting are the targets that are none of all that, such as those that wait for the gate.
	Waiting int
	// Sure says that the sums may be told; right after a start not all targets are judged. Stand says that every target there
	// is stands on the board, and Judged that each was judged by what the gate says now.
	Sure, Stand, Judged bool
}

// KindSum are the sums of one kind, such as 3 of 5 MachineSets of MachineAPI.
type KindSum struct {
	API, Kind                     string
	Total, Done, Skipped, Working int
}

// Told is a target with the reason why it is where it is, and the remedy in it.
type Told struct {
	Name, Reason string
}

// All are the sums of all kinds.
func (s Sums) All() KindSum {
	var all KindSum
	for _, of := range s.Kinds {
		all.Total, all.Done = all.Total+of.Total, all.Done+of.Done
		all.Skipped, all.Working = all.Skipped+of.Skipped, all.Working+of.Working
	}
	return all
}

// Text tells the sums in one line.
func (s Sums) Text() string {
	all := s.All()
	text := fmt.Sprintf("%d of %d targets have the golden boot image", all.Done, all.Total)
	if all.Skipped > 0 {
		text += fmt.Sprintf(", %d are skipped", all.Skipped)
	}
	var kinds []string
	for _, of := range s.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s %s %d/%d", of.API, of.Kind, of.Done, of.Total))
	}
	if len(kinds) > 0 {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	return text
}

// Texts tells of targets by name, with reason and remedy, in 1 KiB.
func Texts(told []Told) string {
	texts := make([]string, len(told))
	for i, one := range told {
		texts[i] = one.Name + ": " + one.Reason
	}
	return machine.Shorten(strings.Join(texts, "; "), machine.MaxMessage)
}

func listed(names []string) string { return machine.Shorten(strings.Join(names, ", "), maxNamed) }
