package privatecapi

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// Locked asks whether a move of the HostedCluster is under way, whoever's it is.
var Locked = guard{
	Name: "Locked",
	Doc:  "The HostedCluster has annotation migration-in-progress, or the one of Capstan that stands beside it.",
	Ask: seen(func(f Facts) machine.Answer {
		switch m := f.Marks; {
		case m.Migrating:
			return machine.SayYes(f.Cluster.String() + " has annotation " + MigrationAnnotation)
		case m.Companion.Present:
			return machine.SayYes(f.Cluster.String() + " has annotation " + CompanionAnnotation)
		}
		return machine.SayNo("")
	}),
}

// LockIsOurs asks whether the lock is of this installation. A lock whose first annotation was taken away is ours all the same,
// and gets it back.
var LockIsOurs = guard{
	Name: "LockIsOurs",
	Doc:  "Annotation capstan.openshift.io/migration names this installation of Capstan.",
	Ask: seen(func(f Facts) machine.Answer {
		switch c := f.Marks.Companion; {
		case !f.Marks.Locked():
			return machine.SayNo(f.Cluster.String() + " is not locked")
		case !c.Present:
			return machine.SayNo("annotation " + MigrationAnnotation + " was set by another than Capstan" + f.lockedBy() + ": it is theirs to take it off")
		case c.Problem != "":
			return machine.SayNo("annotation " + CompanionAnnotation + " cannot be read" + f.lockedBy() + ": " + short(c.Problem))
		case f.Programme.Installation == "":
			return machine.SayUnknown("it is not known yet which installation of Capstan this is")
		case !c.IsOf(f.Programme.Installation):
			return machine.SayNo(fmt.Sprintf("migration %s is of another installation of Capstan than %s%s", short(c.ID), short(f.Programme.Installation), f.lockedBy()))
		}
		return machine.SayYes("migration " + short(f.Marks.Companion.ID) + " is ours")
	}),
}

func (f Facts) lockedBy() string {
	if f.Cluster.LockedBy == "" {
		return ""
	}
	return " (set by field manager " + short(f.Cluster.LockedBy) + ")"
}

// LockIsWhole asks whether the operators see the lock, too.
var LockIsWhole = guard{
	Name: "LockIsWhole",
	Doc:  "Both annotations of the lock are there.",
	Ask: seen(func(f Facts) machine.Answer {
		switch m := f.Marks; {
		case !m.Migrating:
			return machine.SayNo("annotation " + MigrationAnnotation + " is not there yet")
		case !m.Companion.Present:
			return machine.SayNo("annotation " + CompanionAnnotation + " is not there yet")
		}
		return machine.SayYes("")
	}),
}

// IsCommitted asks whether there is no way back.
var IsCommitted = guard{
	Name: "Committed",
	Doc:  "The stage of the migration is committed, from which there is no way back.",
	Ask: seen(func(f Facts) machine.Answer {
		if stage := f.Marks.Companion.Stage; stage != Committed {
			return machine.SayNo("the stage of the migration is " + stage.text())
		}
		return machine.SayYes("the migration is committed")
	}),
}

// MarkedFailed asks whether a move was undone and nobody has asked for another one.
var MarkedFailed = guard{
	Name: "MarkedFailed",
	Doc:  "The HostedCluster has annotation migration-failed.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Marks.Failed == "" {
			return machine.SayNo("")
		}
		return machine.SayYes(f.failedText())
	}),
}

// RetryIsAsked asks whether nobody holds a failure against the HostedCluster any more. It is more than the opposite of
// MarkedFailed: its No says what to do, which people read in the condition.
var RetryIsAsked = guard{
	Name: "RetryIsAsked",
	Doc:  "The HostedCluster does not have annotation migration-failed, or not any more.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Marks.Failed == "" {
			return machine.SayYes("annotation " + FailedAnnotation + " is gone")
		}
		return machine.SayNo(f.failedText())
	}),
}

func (f Facts) failedText() string {
	return fmt.Sprintf("annotation %s says %s: take it off when another try is wanted", FailedAnnotation, short(string(f.Marks.Failed)))
}
