// Package openshiftcontrolplane is the machine of an OpenShiftControlPlane, out of which an OpenShift cluster is made: its states,
// its moves and what it tells people. Everything that may happen is in this one table; the looking and doing are in
// phases/openshiftcontrolplane, the questions in guards/openshiftcontrolplane.
package openshiftcontrolplane

import (
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

const (
	// patience is how long errors may last, and how long a state may go on without progress that only looks.
	patience = 5 * time.Minute
	// healthy is how long the guest has to be healthy before that is believed.
	healthy = 30 * time.Second
	// errorsRest is after how long another try is made where errors have led to Failed: the engine tries again as rarely what is terminal.
	errorsRest = 10 * time.Minute
	// givenUp is after how long another try is made of what an installed cluster is asked for. Somebody was called before that.
	givenUp = 30 * time.Minute
)

type (
	move = machine.Move[guards.Facts, phases.Works]
	row  = machine.StateRow[phases.Works]
)

// Table is the machine.
var Table = machine.Table[guards.Facts, phases.Works]{
	Name:     "openshiftcontrolplane",
	Doc:      "Has an OpenShift cluster made out of an OpenShiftControlPlane: infrastructure by any provider of Cluster API, a temporary bootstrap machine, control-plane machines, the bootstrap removed, a kubeconfig. How far it has come that cannot be taken back is in annotations of the object, the marks, each written before what it allows; where marks and status differ, the higher one counts. An attempt has one bootstrap machine at most. A guest that cannot be reached is one of which nothing is known, and that moves nothing. By the word of one that is not known to be the cluster that was made here, see GuestIsOurs, no mark is set and no Machine is replaced or made, and it is not upgraded. Once the bootstrap is finished its health counts all the same: by it the state goes between Settling, Installed and Degraded.",
	Start:    guards.Pending,
	Progress: guards.Progress,
	Patience: guards.Patience,
	Inputs:   guards.Fingerprint,
	Recall:   guards.Recall,
	Foresees: true,

	States: []row{
		{
			Name: guards.Pending, Rest: true,
			Doc: "No Cluster owns the OpenShiftControlPlane yet, so nothing is made.",
		},
		way(guards.Locating, machine.Action[phases.Works]{},
			"It is being found out how far the installation has come, by its marks: after a start without a status, a pause or a failure."),
		way(guards.AwaitingInfrastructure, machine.Action[phases.Works]{},
			"The infrastructure provider is making what all machines share, and others may ask to be waited for."),
		way(guards.ResolvingInputs, phases.ResolveInputs,
			"What is to be installed is being read and validated. Nothing that costs money exists yet."),
		way(guards.GeneratingIgnition, phases.GenerateIgnition,
			"The inputs are frozen, and what machines are started with is being made of them."),
		way(guards.CreatingMachines, phases.CreateMachines,
			"The bootstrap machine and those of the control plane are being made, together or one after the other."),
		way(guards.AwaitingAPI, phases.ProbeAPI,
			"The machines are starting, and the guest's API is waited for. An Ignition config that is lost now is made again on the way from Locating, and else once the bootstrap is finished: the machines of the control plane have theirs."),
		way(guards.Bootstrapping, phases.WatchBootstrap,
			"The guest's API has answered, and its control plane moves off the bootstrap machine. A worker's Ignition config that is lost now is given back once the bootstrap is finished."),
		way(guards.RemovingBootstrap, phases.RemoveBootstrap,
			"The guest does without its bootstrap machine, which is being removed once hooks allow it."),
		way(guards.Settling, phases.Settle,
			"The guest's operators are coming up."),
		{
			Name: guards.Installed, Rest: true, Work: phases.KeepInstalled,
			Doc: "The cluster is installed and healthy. Under Handover its control-plane Machines are written only to be deleted.",
		},
		way(guards.Upgrading, phases.AskUpgrade,
			"The guest upgrades itself to the release that was asked for."),
		way(guards.Scaling, phases.ScaleMachines,
			"The number of control-plane machines is being changed, one machine at a time."),
		way(guards.Remediating, phases.ReplaceMachine,
			"An unhealthy control-plane machine is being replaced."),
		{
			Name: guards.Degraded, Rest: true, Alarm: true, Work: phases.KeepInstalled, Alert: isDegraded,
			Doc: "The cluster is installed and not healthy, or work on it meets errors; it is kept as in Installed. The number of machines is not changed here: that waits until the cluster is well. spec.releaseImage can be changed here, too: a newer release may mend what a broken one has degraded.",
		},
		{
			Name: guards.Failed, Rest: true, Alarm: true, Alert: isStuck, LookAgain: time.Minute,
			Doc: "The installation does not go on. Machines stay for debugging. It goes on by itself once what was waited for is there or an input changes, and tries again ten minutes after errors; annotation capstan.openshift.io/retry asks for another try at once.",
		},
		way(guards.Clearing, phases.ClearAttempt,
			"Somebody has asked for another try from scratch, and what the attempt has made is being deleted."),
		{
			Name: guards.Paused, Rest: true, Quiet: true,
			Doc: "Somebody has paused the Cluster or the OpenShiftControlPlane; nothing is written but that.",
		},
		{
			Name: guards.Deleting, Rest: true, Work: phases.DeleteCluster, Alert: isGoing,
			Doc: "Somebody has deleted the OpenShiftControlPlane, and what was made for it goes, workers first. The object goes last, and with it this state. There is no limit to that: nothing is left behind.",
		},
	},

	Moves: slices.Concat(found, installing, keeping, failing, []move{
		// What goes before everything else.
		{
			On: "PauseRequested", From: all(guards.Paused), To: guards.Paused, Urgent: true, If: guards.IsPaused,
			Doc: "Somebody wants nothing to be done, not even a deletion.",
		},
		{
			On: "DeletionRequested", From: all(guards.Paused, guards.Deleting), To: guards.Deleting, Urgent: true,
			If:  machine.All(machine.Not(guards.IsPaused), guards.IsDeleting),
			Doc: "Somebody has deleted the OpenShiftControlPlane.",
		},
		{
			On: "StageDiffers", From: all(guards.Pending, guards.Locating, guards.Paused, guards.Deleting), To: guards.Locating, Urgent: true,
			If:  machine.All(machine.Not(guards.IsPaused), machine.Not(guards.IsDeleting), machine.Not(guards.StageFits)),
			Doc: "The marks do not go with the state, which was lost, old or written by another, or no Cluster is the owner any more.",
		},
		{
			On: "DeletionUnfounded", From: in(guards.Deleting), To: guards.Locating, Urgent: true,
			If:  machine.All(machine.Not(guards.IsPaused), machine.Not(guards.IsDeleting)),
			Doc: "Nobody has deleted the OpenShiftControlPlane: the state was restored, or written by another.",
		},
		step("PauseEnded", guards.Paused, guards.Locating, machine.Not(guards.IsPaused),
			"Nobody wants nothing to be done any more."),
	}),

	Notices: []machine.Notice[phases.Works]{{
		Name: "bootstrap-leaked", Count: phases.Leaked, Alert: hasLeaked,
		Doc: "The bootstrap is finished, and its Machine is neither gone nor to stay.",
	}, {
		Name: "kubeconfig-expiring", Count: phases.Expiring, Alert: expiresSoon,
		Doc: "The certificate in the kubeconfig of the guest is valid for less than 30 days. One of ours is renewed long before; one of somebody else's is not renewed by us.",
	}},
}

// found are the moves by which it is found out how far an installation has come.
var found = []move{
	step("OwnerSet", guards.Pending, guards.Locating, guards.OwnerIsSet, "A Cluster owns the OpenShiftControlPlane."),
	step("OwnerLost", guards.Locating, guards.Pending, machine.Not(guards.OwnerIsSet), "No Cluster owns the OpenShiftControlPlane."),
	step("NothingFound", guards.Locating, guards.AwaitingInfrastructure,
		machine.All(guards.OwnerIsSet, machine.Not(guards.InputsAreFrozen), machine.Not(guards.IsInitialized), machine.Not(guards.IsFinished), guards.RemovalIsOver),
		"Nothing is decided yet."),
	step("ClearingFound", guards.Locating, guards.Clearing,
		machine.All(guards.OwnerIsSet, machine.Not(guards.IsFinished), machine.Not(guards.RemovalIsOver)),
		"The mark says that an attempt is being cleared away, which was interrupted."),
	step("FrozenFound", guards.Locating, guards.GeneratingIgnition,
		machine.All(guards.OwnerIsSet, guards.InputsAreFrozen, machine.Not(guards.IsInitialized), machine.Not(guards.IsFinished), guards.RemovalIsOver),
		"The inputs are frozen, and the guest's API has not answered yet."),
	step("InitializedFound", guards.Locating, guards.Bootstrapping,
		machine.All(guards.OwnerIsSet, guards.IsInitialized, machine.Not(guards.IsFinished), guards.RemovalIsOver),
		"The guest's API has answered, and the bootstrap is not finished."),
	step("FinishedFound", guards.Locating, guards.RemovingBootstrap,
		machine.All(guards.OwnerIsSet, guards.IsFinished, machine.Not(guards.RemovalIsOver)),
		"The bootstrap is finished, and something of it is left."),
	step("RemovalFound", guards.Locating, guards.Settling,
		machine.All(guards.OwnerIsSet, guards.IsFinished, guards.RemovalIsOver),
		"The bootstrap is finished and gone."),
}

// installing are the moves of the way there.
var installing = []move{
	step("InfrastructureProvisioned", guards.AwaitingInfrastructure, guards.ResolvingInputs,
		machine.All(guards.InfrastructureIsReady, guards.EndpointIsValid, guards.HooksAreMet),
		"The infrastructure is there, it is known where the guest's API will be, and all who asked to be waited for are done."),
	with(phases.FreezeInputs, step("InputsResolved", guards.ResolvingInputs, guards.GeneratingIgnition, guards.InputsAreResolved,
		"All that is to be installed is at hand and valid.")),
	step("PayloadMade", guards.GeneratingIgnition, guards.CreatingMachines, guards.PayloadStands,
		"The Ignition configs of the three roles are valid."),
	step("PayloadLost", guards.CreatingMachines, guards.GeneratingIgnition, machine.All(machine.Not(guards.PayloadStands), guards.BootstrapIsKept),
		"An Ignition config is gone or altered, or would end too soon and no Machine is made with it."),
	with(phases.MarkInitialized, step("APIAnswered", guards.AwaitingAPI, guards.Bootstrapping, machine.All(guards.APIAnswers, guards.GuestIsOurs, guards.BootstrapIsKept),
		"The guest's API has answered, and the guest is the cluster that was made here.")),
	step("MachinesProvisioned", guards.CreatingMachines, guards.AwaitingAPI,
		machine.All(guards.PayloadStands, guards.MachinesAreProvisioned, guards.BootstrapIsKept),
		"All machines have their infrastructure."),
	with(phases.MarkFinished, step("BootstrapCompleted", guards.Bootstrapping, guards.RemovingBootstrap,
		machine.All(guards.BootstrapIsComplete, guards.NodesAreReady, guards.EtcdIsAlone, guards.BootstrapIsKept),
		"The bootstrap machine says that it is done, more than half of the control-plane machines are Ready Nodes, and etcd has left it.")),
	step("BootstrapRemoved", guards.RemovingBootstrap, guards.Settling, guards.BootstrapIsGone,
		"The bootstrap machine is gone, or it is to stay."),
	with(phases.HandOver, lasting(healthy, step("OperatorsReady", guards.Settling, guards.Installed, guards.GuestIsHealthy,
		"The guest has said for half a minute that all is well."))),
}

// keeping are the moves of an installed cluster. What is unhealthy is mended before anything else is done with it.
var keeping = []move{
	lasting(patience, step("HealthLost", guards.Installed, guards.Degraded,
		machine.All(machine.Not(guards.GuestIsHealthy), machine.Not(guards.RemediationIsNeeded), machine.Not(guards.UpgradeIsWanted), machine.Not(guards.ScaleIsWanted)),
		"An operator of the guest has not been available for five minutes, or is degraded, and nothing is asked for that would be done.")),
	step("RemediationNeeded", guards.Installed, guards.Remediating, guards.RemediationIsNeeded,
		"A control-plane machine is unhealthy, and it is safe to replace it."),
	step("UpgradeAsked", guards.Installed, guards.Upgrading, machine.All(guards.UpgradeIsWanted, machine.Not(guards.RemediationIsNeeded)),
		"Another release is asked for, and the guest can be upgraded to it."),
	step("ScaleAsked", guards.Installed, guards.Scaling,
		machine.All(guards.ScaleIsWanted, machine.Not(guards.UpgradeIsWanted), machine.Not(guards.RemediationIsNeeded)),
		"Another number of control-plane machines is asked for."),
	step("UpgradeDone", guards.Upgrading, guards.Installed, guards.UpgradeIsDone, "The guest has the release, or must not be asked for it."),
	step("ScaleDone", guards.Scaling, guards.Installed, guards.ScaleIsDone, "There are as many machines as asked for."),
	step("RemediationDone", guards.Remediating, guards.Installed, guards.RemediationIsDone, "No machine is unhealthy any more."),
	lasting(healthy, step("HealthRegained", guards.Degraded, guards.Installed,
		machine.All(guards.IsWell, machine.Not(guards.RemediationIsNeeded), machine.Not(guards.UpgradeIsWanted), machine.Not(guards.IsGivenUp)),
		"The guest has said for half a minute that all is well, the work meets no error, and nothing is asked for that was given up.")),
	step("UpgradeAsked", guards.Degraded, guards.Upgrading,
		machine.All(guards.UpgradeIsWanted, machine.Not(guards.RemediationIsNeeded), machine.Not(guards.IsGivenUp)),
		"Another release is asked for, nothing that was given up is asked for still, and the guest can be upgraded: a release may have degraded the cluster, and another one mend it."),
	step("RemediationNeeded", guards.Degraded, guards.Remediating, machine.All(guards.RemediationIsNeeded, machine.Not(guards.IsGivenUp)),
		"A control-plane machine is unhealthy, it is safe to replace it, and nothing that was given up is asked for still."),
	lasting(givenUp, step("RetryDue", guards.Degraded, guards.Installed,
		machine.All(guards.IsGivenUp, machine.Any(guards.RemediationIsNeeded, guards.IsWell)),
		"For half an hour on end the guest was well, or a machine could be replaced, while what was given up is asked for still.")),
}

// failing are the moves off the way, and back to it.
var failing = []move{
	{
		On: "BootstrapLost", From: in(guards.CreatingMachines, guards.AwaitingAPI, guards.Bootstrapping), To: guards.Failed,
		If:  machine.Not(guards.BootstrapIsKept),
		Doc: "The bootstrap machine is gone too soon, and this attempt has no other one.",
	},
	step("Recovered", guards.Failed, guards.Locating, machine.All(guards.BootstrapIsKept, machine.Not(guards.ScratchIsAsked), guards.CauseIsGone),
		"What was waited for is there, or an input has changed."),
	lasting(errorsRest, step("RetryDue", guards.Failed, guards.Locating,
		machine.All(guards.BootstrapIsKept, machine.Not(guards.ScratchIsAsked), machine.Not(guards.CauseIsGone), guards.ErrorsLedHere),
		"Errors have led here ten minutes ago. They may be over, which no event tells.")),
	step("ScratchAsked", guards.Failed, guards.Clearing, guards.ScratchIsAsked,
		"Somebody has asked for all of the attempt to be deleted, and for another one."),
	step("Cleared", guards.Clearing, guards.ResolvingInputs, guards.AttemptIsGone,
		"Nothing is left of the attempt."),

	{
		On: guards.FailureEstablished, From: in(guards.ResolvingInputs, guards.GeneratingIgnition, guards.CreatingMachines, guards.AwaitingAPI, guards.Bootstrapping, guards.Clearing),
		To: guards.Failed, Failing: patience,
		Doc: "The work has met errors for five minutes, or one that trying again at once cannot heal.",
	},
	{
		On: guards.FailureEstablished, From: in(guards.RemovingBootstrap), To: guards.Settling, Failing: patience,
		Doc: "The removal has met errors for five minutes. It goes on in every state that follows, and holds nothing up.",
	},
	{
		On: guards.FailureEstablished, From: in(guards.Settling, guards.Installed, guards.Upgrading, guards.Scaling, guards.Remediating), To: guards.Degraded, Failing: patience,
		Doc: "The work has met errors for five minutes, or one that trying again at once cannot heal.",
	},
	stalled(patience, guards.Failed, "It could not be found out for five minutes how far the installation has come.", guards.Locating),
	stalled(guards.InfrastructurePatience, guards.Failed, "Infrastructure, endpoint or hooks were not there in time. The time is 15 minutes, that of the spec, or that of the longest hook.", guards.AwaitingInfrastructure),
	stalled(15*time.Minute, guards.Failed, "Inputs were not there or not valid for fifteen minutes.", guards.ResolvingInputs),
	stalled(guards.IgnitionPatience, guards.Failed, "No Ignition config was made for ten minutes.", guards.GeneratingIgnition),
	stalled(guards.MachinesPatience, guards.Failed, "No machine was provisioned for fifteen minutes.", guards.CreatingMachines),
	stalled(guards.APIPatience, guards.Failed, "The guest's API has not answered within twenty minutes. The bootstrap machine is kept.", guards.AwaitingAPI),
	stalled(guards.BootstrapPatience, guards.Failed, "No progress in bootstrapping for 45 minutes, an hour on bare metal, on vSphere, and where the platform is not known. The bootstrap machine is kept.", guards.Bootstrapping),
	stalled(guards.RemovalPatience, guards.Settling, "The bootstrap machine was not gone within five minutes, or the time of the longest hook. The removal goes on in every state that follows.", guards.RemovingBootstrap),
	stalled(40*time.Minute, guards.Degraded, "No further operator of the guest became available for forty minutes.", guards.Settling),
	stalled(3*time.Hour, guards.Degraded, "No progress in the upgrade for three hours.", guards.Upgrading),
	stalled(time.Hour, guards.Degraded, "No progress with machines for an hour.", guards.Scaling, guards.Remediating),
	stalled(15*time.Minute, guards.Failed, "Nothing of the attempt went for fifteen minutes.", guards.Clearing),
}

// way is a state that is on its way to another one.
func way(name machine.State, work machine.Action[phases.Works], doc string) row {
	return row{Name: name, Work: work, Doc: doc}
}

func step(on machine.Event, from, to machine.State, guard machine.Guard[guards.Facts], doc string) move {
	return move{On: on, From: in(from), To: to, If: guard, Doc: doc}
}

// with is a move with an effect, lasting one whose guard has to last.
func with(effect machine.Action[phases.Works], m move) move {
	m.Do = effect
	return m
}

func lasting(long time.Duration, m move) move {
	m.For = long
	return m
}

func stalled(limit time.Duration, to machine.State, doc string, from ...machine.State) move {
	return move{On: guards.ProgressStalled, From: from, To: to, Stalled: limit, Doc: doc}
}

func in(states ...machine.State) []machine.State { return states }

// all are all states but some.
func all(but ...machine.State) []machine.State {
	states := in(guards.Pending, guards.Locating, guards.AwaitingInfrastructure, guards.ResolvingInputs, guards.GeneratingIgnition, guards.CreatingMachines,
		guards.AwaitingAPI, guards.Bootstrapping, guards.RemovingBootstrap, guards.Settling, guards.Installed, guards.Upgrading, guards.Scaling,
		guards.Remediating, guards.Degraded, guards.Failed, guards.Clearing, guards.Paused, guards.Deleting)
	return slices.DeleteFunc(states, func(s machine.State) bool { return slices.Contains(but, s) })
}
