package house

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
)

// Words are what a machine says of a pass.
type Words struct {
	// Line says in one line why it is not done; the flight recorder notes Subject, such as the revision worked on.
	Line, Subject string
	// About is the object that Events are about.
	About corev1.ObjectReference
	// Quiet says that nobody waits for Events of the moves that led here, nor looks for them in the flight recorder, as where
	// a process finds the thousand instances of a family as they were left.
	Quiet bool
}

// Pass is what a pass came to.
type Pass struct {
	Machine string
	Key     machine.Key
	At      time.Time
	Outcome machine.Outcome
	// Err says that the pass could not be made, or not be stored.
	Err error
	// Words are empty for a pass that could not be made.
	Words Words
	// Rests and Alarms are those of the state, see [machine.StateRow]; Fails says that work or an effect meets an error.
	Rests, Alarms, Fails bool
	// Calling are the alerts of what stands; nil, and Seen false, for a pass that could not be made.
	Calling []string
	Seen    bool
}

// Teller tells people of passes. It never fails and never waits: a pass is over
// when it is told. What it remembers is lost with the process.
type Teller interface {
	// Tell takes in a pass, one at a time for each key, and returns after how long it wants another one; zero for none.
	Tell(context.Context, Pass) (again time.Duration)
	// Forget drops what is remembered of an instance whose object is gone.
	Forget(machine.Key)
}
