package privatecapi

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// stuck is how long a HostedCluster may be locked without anything going on before somebody is called.
const stuck = time.Hour

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
	markingFails = machine.Alert{
		Name: "CapstanPrivateCAPIFailing", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot say which operator a HostedCluster is of",
	}
)
