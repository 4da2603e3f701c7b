package openshiftcontrolplane

import (
	"context"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// Works is what the machine's work is done with, in one pass. Each work is safe to repeat, and takes up what an earlier one that
// was interrupted has left.
type Works interface {
	// Facts are what the pass has seen.
	Facts() guards.Facts

	ResolveInputs(context.Context) (machine.Result, error)
	// FreezeInputs writes the mark of the inputs, and returns when the API server has it.
	FreezeInputs(context.Context) (machine.Result, error)
	GenerateIgnition(context.Context) (machine.Result, error)
	// CreateMachines reads the marks live before it creates the bootstrap Machine, see [guards.Marks.MayCreateBootstrap].
	CreateMachines(context.Context) (machine.Result, error)
	ProbeAPI(context.Context) (machine.Result, error)
	MarkInitialized(context.Context) (machine.Result, error)
	WatchBootstrap(context.Context) (machine.Result, error)
	MarkFinished(context.Context) (machine.Result, error)
	// RemoveBootstrap reads the marks live before it deletes the bootstrap Machine, see [guards.Marks.MayDeleteBootstrap].
	RemoveBootstrap(context.Context) (machine.Result, error)
	// HandOver settles who has the say over control-plane Machines.
	HandOver(context.Context) (machine.Result, error)

	KeepInstalled(context.Context) (machine.Result, error)
	AskUpgrade(context.Context) (machine.Result, error)
	ScaleMachines(context.Context) (machine.Result, error)
	ReplaceMachine(context.Context) (machine.Result, error)

	// ClearAttempt writes the mark that the attempt is cleared away before it deletes anything, and takes the marks off last, when all
	// else is gone.
	ClearAttempt(context.Context) (machine.Result, error)
	DeleteCluster(context.Context) (machine.Result, error)
}

// Snapshot is an OpenShiftControlPlane after a pass.
type Snapshot = machine.Snapshot[guards.Facts, Works]

// again is after how long a work is tried whose stage nobody can tell.
const again = time.Second

// work is the action of a state. Where the marks do not allow the state, or nobody can tell, it does nothing: a row leads on. Neither does
// it where somebody wants a pause or a deletion, which a row leads to that may not be stored yet.
func work(name, doc string, run func(Works, context.Context) (machine.Result, error), writes ...string) machine.Action[Works] {
	return machine.Action[Works]{
		Name: name, Writes: writes, Doc: doc,
		Run: func(ctx context.Context, w Works) (machine.Result, error) {
			if !isAsked(w, guards.StageFits) || isAsked(w, guards.IsPaused) || isAsked(w, guards.IsDeleting) {
				return machine.Result{LookAgain: again}, nil
			}
			return run(w, ctx)
		},
	}
}

// effect is the action of a move, whose guard has been asked.
func effect(name, doc string, run func(Works, context.Context) (machine.Result, error), writes ...string) machine.Action[Works] {
	return machine.Action[Works]{Name: name, Writes: writes, Doc: doc, Run: func(ctx context.Context, w Works) (machine.Result, error) { return run(w, ctx) }}
}

// always is the action of a state that all marks allow, and that needs no owner: a deletion goes on wherever an installation has come to,
// and also where the Cluster is gone. It asks for no more than what the state stands for, since a record may be forged, and neither does
// anything where somebody wants a pause.
func always(name, doc string, run func(Works, context.Context) (machine.Result, error), writes ...string) machine.Action[Works] {
	return machine.Action[Works]{
		Name: name, Writes: writes, Doc: doc,
		Run: func(ctx context.Context, w Works) (machine.Result, error) {
			if isAsked(w, guards.IsPaused) || !isAsked(w, guards.IsDeleting) {
				return machine.Result{LookAgain: again}, nil
			}
			return run(w, ctx)
		},
	}
}

func isAsked(w Works, g machine.Guard[guards.Facts]) bool {
	return g.Answer(w.Facts()).Truth == machine.Yes
}

// What works write, by kind.
var (
	writesMarks     = []string{"annotations of OpenShiftControlPlane"}
	writesFinalizer = []string{"finalizers of OpenShiftControlPlane"}
	writesTemplates = []string{"ownerReferences of templates"}
	writesSecrets   = []string{"Secret"}
	writesInstaller = []string{"Job", "ServiceAccount", "Role", "RoleBinding"}
	writesMachines  = []string{"Machine", "OpenShiftConfig", "infrastructure machines"}
	writesKept      = slices.Concat(writesMachines, []string{"status of Machine"})
	writesMade      = slices.Concat(writesFinalizer, writesTemplates, writesMarks, writesKept)
	writesInstalled = slices.Concat(writesFinalizer, writesMarks, writesKept, writesSecrets)
	writesTaken     = slices.Concat(writesMachines, writesSecrets, writesInstaller)
)

// What the Docs of several works say.
const (
	keeps   = "metadata, deletion, gates, taints and condition UpToDate of Machines, and the metadata of their configs and infrastructure machines"
	whole   = "makes config, infrastructure machine and Machine where one of them is missing that is to be there, keeps " + keeps + ", and sets the finalizer of the OpenShiftControlPlane, and the Cluster as owner of templates, where that was taken off"
	removal = "removing the bootstrap, if anything of it is left, unless it is to stay or a hook holds it; before that the finalizer of the OpenShiftControlPlane is set where it was taken off, and marks that only the status has kept are written again"
	joining = "Gives masters and workers the Ignition configs back that were lost; what that meets, or the removal of spent Secrets, is told, tried again in half a minute, and leads to no other state"
	removed = "Deletes: Machine, OpenShiftConfig, infrastructure machines and Secret of the bootstrap"
	spent   = ", and the Secrets of keys and of an installer, which nobody needs any more"
)

// The works of the installation.
var (
	ResolveInputs = work("ResolveInputs", "sets the finalizer of the OpenShiftControlPlane; reads the release's version, the install state, the manifests and the templates, and validates all of it. Has the Cluster own the templates.",
		Works.ResolveInputs, slices.Concat(writesFinalizer, writesTemplates)...)
	GenerateIgnition = work("GenerateIgnition", "stores keys and certificates first, and then makes the Ignition configs of the three roles, once for the attempt; makes them anew only if they would end too soon and no Machine is made with them, and takes the mark back that one is intended. With engine InstallerJob a Job makes them, with a ServiceAccount, Role and RoleBinding of its own and Secrets for what it is given and makes; these go once the configs are stored, and the Job goes before it is tried again. Sets finalizer and owner of templates where that was taken off. Deletes: Job, ServiceAccount, Role, RoleBinding and Secrets of an installer.",
		Works.GenerateIgnition, slices.Concat(writesFinalizer, writesMarks, writesTemplates, writesSecrets, writesInstaller)...)
	CreateMachines = work("CreateMachines", "creates config, infrastructure machine and Machine of the bootstrap and of the control plane, and takes up those of ours that are there; intends the bootstrap Machine by its mark first, and notes its UID after. Of those that are there it keeps "+keeps+". Sets the finalizer of the OpenShiftControlPlane, and the Cluster as owner of templates, where that was taken off.",
		Works.CreateMachines, writesMade...)
	ProbeAPI = work("ProbeAPI", "stores the kubeconfig, and asks the guest's API whether it is ready. As CreateMachines does, "+whole+"; also the bootstrap Machine, if there was none in this attempt.",
		Works.ProbeAPI, slices.Concat(writesMade, writesSecrets)...)
	WatchBootstrap = work("WatchBootstrap", "keeps the kubeconfig, and reads of the guest how far the bootstrap is. As CreateMachines does, "+whole+"; but never makes another bootstrap Machine.",
		Works.WatchBootstrap, slices.Concat(writesMade, writesSecrets)...)
	RemoveBootstrap = work("RemoveBootstrap", "goes on with "+removal+". Keeps the kubeconfig, and "+keeps+". "+joining+". "+removed+spent+".",
		Works.RemoveBootstrap, writesInstalled...)
	Settle = work("Settle", "reads of the guest how its operators are. Goes on with "+removal+". Keeps the kubeconfig, and "+keeps+". "+joining+". "+removed+spent+".",
		Works.RemoveBootstrap, writesInstalled...)
)

// The effects of the installation. Each is written before the state that it allows.
var (
	FreezeInputs = effect("FreezeInputs", "has the Cluster own the templates, and writes the digest of the inputs as a mark: from then on edits of the inputs are told and change nothing.",
		Works.FreezeInputs, slices.Concat(writesTemplates, writesMarks)...)
	MarkInitialized = effect("MarkInitialized", "writes the mark that the guest's API has answered.",
		Works.MarkInitialized, writesMarks...)
	MarkFinished = effect("MarkFinished", "writes the mark that the bootstrap is finished: from then on there is never another bootstrap Machine.",
		Works.MarkFinished, writesMarks...)
	HandOver = effect("HandOver", "under Handover takes off the control-plane Machines what would hold their deletion for us; under Managed sets it, and keeps "+keeps+". Has the Cluster own templates that were made anew.",
		Works.HandOver, slices.Concat(writesTemplates, writesKept)...)
)

// The works of an installed cluster.
var (
	KeepInstalled = work("KeepInstalled", "renews the kubeconfig at half of its life, and does what HandOver does where that is not done. Goes on with "+removal+". "+joining+". "+removed+spent+".",
		Works.KeepInstalled, writesInstalled...)
	AskUpgrade = work("AskUpgrade", "asks the guest for the release, with a note on its ClusterVersion that it was by us; or takes off what it was asked for by us, where that is no more asked for and the guest has not begun it; and does as in Installed. "+removed+spent+".",
		Works.AskUpgrade, slices.Concat([]string{"ClusterVersion of the guest"}, writesInstalled)...)
	ScaleMachines = work("ScaleMachines", "creates or deletes one control-plane Machine at a time, with its config and infrastructure machine, takes back what was begun and is not asked for any more, and does as in Installed, but for Secrets of keys and of an installer. "+removed+"; and a control-plane Machine, once etcd does without it.",
		Works.ScaleMachines, writesInstalled...)
	ReplaceMachine = work("ReplaceMachine", "deletes one unhealthy control-plane Machine, and creates another in its place, with its config and infrastructure machine; does as in Installed, but for Secrets of keys and of an installer. "+removed+"; and a control-plane Machine, once etcd does without it.",
		Works.ReplaceMachine, writesInstalled...)
)

// The works that take something down.
var (
	ClearAttempt = work("ClearAttempt", "writes the mark that the attempt is cleared away, from which on nothing goes on with it, deletes what the attempt has made, takes the marks off last, and notes which value of the annotation has asked for it. Machines lose what would hold their deletion, and are not drained. Deletes: Machines, OpenShiftConfigs, infrastructure machines, payload, certificates and kubeconfig of the attempt, which are Secrets, and the Job of an installer with its ServiceAccount, Role and RoleBinding.",
		Works.ClearAttempt, slices.Concat(writesTaken, writesMarks)...)
	DeleteCluster = always("DeleteCluster", "waits until all workers are gone, whoever made them; then deletes the control-plane Machines, which lose what would hold their deletion, the bootstrap, what was half made, and Secrets, and takes the finalizer off last. Deletes: Machines, OpenShiftConfigs, infrastructure machines and Secrets of the cluster, and the Job of an installer with its ServiceAccount, Role and RoleBinding.",
		Works.DeleteCluster, slices.Concat(writesTaken, writesFinalizer)...)
)

// Leaked counts a bootstrap Machine that is still there though the guest does without it, and it is not to stay.
func Leaked(w Works) int {
	f := w.Facts()
	if f.Reached().Finished && !f.Object.Retain && f.Bootstrap.Known && f.Bootstrap.UID != "" {
		return 1
	}
	return 0
}

// Expiring counts a kubeconfig that does not last much longer.
func Expiring(w Works) int {
	if k := w.Facts().Kubeconfig; k.Known && k.Expiring {
		return 1
	}
	return 0
}
