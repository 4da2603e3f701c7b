package privatecapi

import "github.com/capstan-capi/capstan/machine"

// The annotations of a HostedCluster that HyperShift's operators read too.
const (
	// ScopeAnnotation is of the old operator where its value is ScopeLegacy. What somebody else has put there waits in
	// PreviousScopeAnnotation meanwhile.
	ScopeAnnotation         = "hypershift.openshift.io/scope"
	ScopeLegacy             = "legacy"
	PreviousScopeAnnotation = "hypershift.openshift.io/previous-scope"
	// PrivateTypesAnnotation is of the new operator where its value is MarkTrue.
	PrivateTypesAnnotation = "hypershift.openshift.io/private-capi-types"
	// MigrationAnnotation is the lock that every operator sees, whatever its value is; FailedAnnotation has the Reason of a
	// move that failed. Whoever takes FailedAnnotation away asks for another try.
	MigrationAnnotation = "hypershift.openshift.io/migration-in-progress"
	FailedAnnotation    = "hypershift.openshift.io/migration-failed"
	// RestoredAnnotation is of one that was put back from a backup, whatever its value is: when it was created says nothing of its age.
	RestoredAnnotation = "hypershift.openshift.io/restored-from-backup"
	// MarkTrue is what these annotations are set to.
	MarkTrue = "true"
)

// The annotations, the finalizer and the label of our own.
const (
	// CompanionAnnotation stands beside the lock and says whose it is and how far the move has come, see [Companion].
	CompanionAnnotation = "capstan.openshift.io/migration"
	// PausedAnnotation asks that no move of the HostedCluster begins, RevertAnnotation that it moves back to the standard
	// types; both are requests of people, whatever their value is.
	PausedAnnotation = "capstan.openshift.io/private-capi-paused"
	RevertAnnotation = "capstan.openshift.io/private-capi-revert"
	// MigratedFromAnnotation is of a copy: the UID of the object that it is a copy of.
	MigratedFromAnnotation = "capstan.openshift.io/migrated-from"
	// CopiedToAnnotation is of an original whose copy was seen: the UID of that. Nothing is deleted at a source without it.
	CopiedToAnnotation = "capstan.openshift.io/copied-to"
	// MigratedByAnnotation is of a copy too: the move and the stage that have made it, see [MoveOf].
	MigratedByAnnotation = "capstan.openshift.io/migrated-by"
	// Finalizer keeps a HostedCluster while it moves.
	Finalizer = "capstan.openshift.io/private-capi"
	// FenceLabel is of the namespace of a control plane, with a [Fence] as its value.
	FenceLabel = "capstan.openshift.io/private-capi-fence"
	// MoveLabel stands beside FenceLabel and names the move that is under way and its stage, see [MoveOf]. The fence denies copies of
	// another move, and of another stage.
	MoveLabel = "capstan.openshift.io/private-capi-move"
)

// ProgrammeName is the name of the ConfigMap by which the programme is enabled, paused and given its time of retention, and of
// the Lease that at most one move holds.
const ProgrammeName = "capstan-private-capi"

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Classifying machine.State = "Classifying"
	Eligible    machine.State = "Eligible"
	Private     machine.State = "Private"
	Failed      machine.State = "Failed"
	Held        machine.State = "Held"
	Ambiguous   machine.State = "Ambiguous"

	Checking       machine.State = "Checking"
	Locking        machine.State = "Locking"
	Pausing        machine.State = "Pausing"
	Draining       machine.State = "Draining"
	Snapshotting   machine.State = "Snapshotting"
	Copying        machine.State = "Copying"
	CopyingStatus  machine.State = "CopyingStatus"
	Rewiring       machine.State = "Rewiring"
	Equipping      machine.State = "Equipping"
	Starting       machine.State = "Starting"
	Comparing      machine.State = "Comparing"
	Unpausing      machine.State = "Unpausing"
	Observing      machine.State = "Observing"
	Committing     machine.State = "Committing"
	RemovingSource machine.State = "RemovingSource"
	Unlocking      machine.State = "Unlocking"

	Repausing      machine.State = "Repausing"
	DrainingBack   machine.State = "DrainingBack"
	CopyingBack    machine.State = "CopyingBack"
	DroppingCopies machine.State = "DroppingCopies"
	Restoring      machine.State = "Restoring"

	CommitBlocked   machine.State = "CommitBlocked"
	CleanupBlocked  machine.State = "CleanupBlocked"
	UnlockBlocked   machine.State = "UnlockBlocked"
	RestoreBlocked  machine.State = "RestoreBlocked"
	RollbackBlocked machine.State = "RollbackBlocked"
)

// The events that lead to where a move is undone. Which of them it was decides about the [Reason] that is told.
const (
	ProgressStalled    machine.Event = "ProgressStalled"
	FailureEstablished machine.Event = "FailureEstablished"
	DeletionAsked      machine.Event = "DeletionAsked"
	InterruptedEarly   machine.Event = "InterruptedEarly"
)

// Stage is how far a move has come, as [Companion] has it. It is written before what it allows, so it is the truth whatever
// becomes of records and journals.
type Stage string

// The stages. Of moving, the source is kept as it is and nothing else runs; of live, the target runs; of committed, there is no
// way back. Of undoing, the source lacks what the target did; of undone, it does not.
const (
	NoStage   Stage = ""
	Moving    Stage = "moving"
	Live      Stage = "live"
	Committed Stage = "committed"
	Undoing   Stage = "undoing"
	Undone    Stage = "undone"
)

// Direction is the side that a move leads to.
type Direction string

// The directions; the second one is that of a revert.
const (
	ToPrivate  Direction = "private"
	ToStandard Direction = "standard"
)

// Fence says the writes to which side are denied to all but the machine, the garbage collector and the namespace controller.
type Fence string

// The fences, as FenceLabel has them.
const (
	NoFence          Fence = ""
	StandardIsShut   Fence = "standard"
	PrivateIsShut    Fence = "private"
	BothSidesAreShut Fence = "both"
)

// Reason is why a move was undone, as FailedAnnotation and metrics have it.
type Reason string

// The reasons.
const (
	ScaleDownTimeout         Reason = "scale-down-timeout"
	ResourceConversionFailed Reason = "resource-conversion-failed"
	StatusCopyFailed         Reason = "status-copy-failed"
	WorkloadUpdateFailed     Reason = "workload-update-failed"
	ScaleUpTimeout           Reason = "scale-up-timeout"
	ProxyVerifyFailed        Reason = "proxy-verify-failed"
	HealthCheckTimeout       Reason = "health-check-timeout"
	// APIUnavailable is of a move whose limit came while the API server did not answer.
	APIUnavailable Reason = "api-unavailable"
	// AmbiguousState is of a move of which nobody knows any more why it is undone, and of a namespace with objects of both sides.
	AmbiguousState Reason = "ambiguous-state"
	// Reverted is of a move back that somebody has asked for, and that has succeeded.
	Reverted Reason = "reverted"
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{
		ScaleDownTimeout, ResourceConversionFailed, StatusCopyFailed, WorkloadUpdateFailed, ScaleUpTimeout, ProxyVerifyFailed,
		HealthCheckTimeout, APIUnavailable, AmbiguousState, Reverted,
	}
}

// reasons are what is told of a move that is undone from a state: the state's own, or the next one on the way.
var reasons = map[machine.State]Reason{
	Pausing: ScaleDownTimeout, Draining: ScaleDownTimeout,
	Snapshotting: ResourceConversionFailed, Copying: ResourceConversionFailed,
	CopyingStatus: StatusCopyFailed,
	Rewiring:      WorkloadUpdateFailed, Equipping: WorkloadUpdateFailed,
	Starting:  ScaleUpTimeout,
	Comparing: ProxyVerifyFailed,
	Unpausing: HealthCheckTimeout, Observing: HealthCheckTimeout,
}

// ReasonOf is why the move is undone that facts are of: what was written before, or else what follows from where its way back began.
func ReasonOf(f Facts) Reason {
	if reason := f.Marks.Companion.Reason; reason != "" {
		return reason
	}
	return ReasonFor(f.Then.BackFrom, f.Then.BackBy, f.Unreachable)
}

// ReasonFor is what is told of a move that is undone since an event led to Repausing from a state; empty where nothing is told,
// as for a HostedCluster that is being deleted. unreachable says that the API server did not answer when it was given up.
func ReasonFor(from machine.State, on machine.Event, unreachable bool) Reason {
	switch own, known := reasons[from]; {
	case on == DeletionAsked:
		return ""
	case !known || on != ProgressStalled && on != FailureEstablished:
		return AmbiguousState
	case unreachable:
		return APIUnavailable
	default:
		return own
	}
}
