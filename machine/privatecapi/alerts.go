package privatecapi

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

const (
	// stuck is how long a HostedCluster may be locked before somebody is called, whatever goes on meanwhile.
	stuck = time.Hour
	// steady is the end of that time, in which it has to be seen to be locked: a value that is told for a moment calls nobody.
	steady = 10 * time.Minute
)

// notices are what stands beside all that a move does. One that goes to and fro stays in no state for long.
var notices = []machine.Notice[phases.Works]{{
	Name: "overdue", Count: isOverdue, Alert: lasts,
	Doc: "A HostedCluster has been locked by one move for more than an hour, in whichever states; moves take 5 to 15 minutes.",
}}

func isOverdue(w phases.Works) int {
	if w.LockedFor() > stuck-steady {
		return 1
	}
	return 0
}

// Who is called to what.
var (
	hasFailed = machine.Alert{
		Name: "CapstanPrivateCAPIFailed", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "A HostedCluster was not moved to private Cluster API types, and stays as it was",
	}
	isHeld = machine.Alert{
		Name: "CapstanPrivateCAPIHeld", Severity: machine.Warning, After: stuck,
		Summary: "A HostedCluster is locked by another than Capstan, and nobody reconciles it",
	}
	isAmbiguous = machine.Alert{
		Name: "CapstanPrivateCAPIAmbiguous", Severity: machine.Critical, After: 10 * time.Minute,
		Summary: "The marks and the Cluster API objects of a HostedCluster contradict each other",
	}
	commitIsBlocked = machine.Alert{
		Name: "CapstanPrivateCAPICommitBlocked", Severity: machine.Warning, After: stuck,
		Summary: "The move of a HostedCluster cannot be committed, and its data plane is not scaled",
	}
	cleanupIsBlocked = machine.Alert{
		Name: "CapstanPrivateCAPICleanupBlocked", Severity: machine.Warning, After: stuck,
		Summary: "A HostedCluster has moved, and its old objects cannot be removed",
	}
	unlockIsBlocked = machine.Alert{
		Name: "CapstanPrivateCAPIUnlockBlocked", Severity: machine.Warning, After: stuck,
		Summary: "The move of a HostedCluster is over, and its lock cannot be released",
	}
	restoreIsBlocked = machine.Alert{
		Name: "CapstanPrivateCAPIRestoreBlocked", Severity: machine.Critical, After: stuck,
		Summary: "A move was undone, and the components of the HostedCluster cannot be restored",
	}
	rollbackIsBlocked = machine.Alert{
		Name: "CapstanPrivateCAPIRollbackBlocked", Severity: machine.Critical, After: stuck,
		Summary: "The failed move of a HostedCluster cannot be undone, and its data plane is not scaled",
	}
	lasts = machine.Alert{
		Name: "CapstanPrivateCAPILocked", Severity: machine.Warning, After: steady,
		Summary: "The move of a HostedCluster has lasted for more than an hour, and its data plane is not scaled",
	}
	markingFails = machine.Alert{
		Name: "CapstanPrivateCAPIFailing", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot say which operator a HostedCluster is of",
	}
)
