// Package compatibility holds the facts that the machine compatibility decides on, and the
// questions it asks of them. Nothing here looks, waits or remembers.
package compatibility

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// Facts is what one look at a requirement and its definition has shown. Zero values mean "not seen".
type Facts struct {
	// Seen says that the requirement was looked at, Deleting that it has been asked to go.
	Seen     bool `yaml:"seen"`
	Deleting bool `yaml:"deleting"`
	// UID and Generation are those of the requirement.
	UID        string `yaml:"uid"`
	Generation int64  `yaml:"generation"`
	Spec       Spec   `yaml:"spec"`
	Hooks      Hooks  `yaml:"hooks"`
	// CheckerSeen says that the endpoints of the checker were looked at, CheckerReady that one of them is ready, CheckerStays
	// that one has been for long enough.
	CheckerSeen  bool `yaml:"checkerSeen"`
	CheckerReady bool `yaml:"checkerReady"`
	CheckerStays bool `yaml:"checkerStays"`
	CRD          CRD  `yaml:"crd"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// Spec tells whether a requirement can be judged. Known is false until its data was read.
type Spec struct {
	Known bool `yaml:"known"`
	// Problem says why it cannot be, empty if it can; Unread says why its data was not read.
	Problem string `yaml:"problem"`
	Unread  string `yaml:"unread"`
}

// Hooks tells of the webhook configurations of a requirement, and of its definition's place in the shared one. Known is
// false as long as nobody can tell what they should be.
type Hooks struct {
	Known bool `yaml:"known"`
	// New says that no pass before has told of this generation of the spec, whether or not it is known what they should be.
	New bool `yaml:"new"`
	// Done counts what is as it should be, Missing says what is not.
	Done    int      `yaml:"done"`
	Missing []string `yaml:"missing"`
	// Taken names the configurations of others that have a wanted name.
	Taken []string `yaml:"taken"`
}

// CRD is the live definition. Seen is false as long as it was not read, or not compared.
type CRD struct {
	Name   string `yaml:"name"`
	Seen   bool   `yaml:"seen"`
	Absent bool   `yaml:"absent"`
	Unread string `yaml:"unread"`
	// UID and Generation are those of the live definition that was compared.
	UID        string `yaml:"uid"`
	Generation int64  `yaml:"generation"`
	// Missing is what the requirement needs and the definition does not have, Warnings what differs otherwise.
	Missing  []string `yaml:"missing"`
	Warnings []string `yaml:"warnings"`
}

// Then is how things stood when the present state was entered: by which event, with which inputs, and how much was done.
type Then struct {
	Event   machine.Event
	Inputs  string
	Done    int
	Failing bool
}

// Progress counts what is as it should be of the hooks, and the live definition once it was seen.
func Progress(f Facts) (done int, known bool) {
	done = f.Hooks.Done
	if f.CRD.Seen {
		done++
	}
	return done, f.Hooks.Known
}

// Inputs is the fingerprint whose change is a reason to try again.
func Inputs(f Facts) string {
	if !f.Seen {
		return ""
	}
	return fmt.Sprintf("%s/%d", f.UID, f.Generation)
}

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record, _ machine.Resumed) {
	f.Then = Then{Event: r.LastEvent, Inputs: r.Entry.Inputs, Done: r.Entry.Done, Failing: r.Failure != nil}
}
