package openshiftcontrolplane

import (
	"context"
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
			facts := w.Facts()
			isAsked := func(g machine.Guard[guards.Facts]) bool { return g.Answer(facts).Truth == machine.Yes }
			if !isAsked(guards.StageFits) || isAsked(guards.IsPaused) || isAsked(guards.IsDeleting) {
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

// The works of the installation.
var (
	ResolveInputs = work("ResolveInputs", "reads the release's version, the install state, the manifests and the templates, and validates all of it. Has the Cluster own the templates.",
		Works.ResolveInputs, "ownerReferences of templates")
	GenerateIgnition = work("GenerateIgnition", "stores keys and certificates first, and then makes the Ignition configs of the three roles, once for the attempt; makes them anew only if they would end too soon and no Machine is there that was made with them: that one is intended is taken back then.",
		Works.GenerateIgnition, "Secret", "Job", "annotations of OpenShiftControlPlane")
	CreateMachines = work("CreateMachines", "creates config, infrastructure machine and Machine of the bootstrap and of the control plane, and takes up those of ours that are there; intends the bootstrap Machine by its mark first, and notes its UID after. Has the Cluster own the templates that it clones. Where a Secret of the payload is lost, gives the same bytes back.",
		Works.CreateMachines, "ownerReferences of templates", "annotations of OpenShiftControlPlane", "OpenShiftConfig", "infrastructure machines", "Machine", "Secret")
	ProbeAPI = work("ProbeAPI", "stores the kubeconfig, and asks the guest's API whether it is ready. Makes Machines whole that are not.",
		Works.ProbeAPI, "OpenShiftConfig", "infrastructure machines", "Machine", "Secret")
	WatchBootstrap = work("WatchBootstrap", "reads of the guest how far the bootstrap is. Makes Machines whole that are not, and never makes another bootstrap Machine.",
		Works.WatchBootstrap, "OpenShiftConfig", "infrastructure machines", "Machine", "Secret")
	RemoveBootstrap = work("RemoveBootstrap", "waits for hooks, and deletes the bootstrap Machine, its config and its payload, unless they are to stay. Deletes: Machine, OpenShiftConfig and Secret of the bootstrap. Keeps the kubeconfig, the Ignition configs of masters and workers, and the Machines' metadata.",
		Works.RemoveBootstrap, "Machine", "OpenShiftConfig", "Secret")
	Settle = work("Settle", "reads of the guest how its operators are. Goes on removing the bootstrap, if anything of it is left, and keeps the kubeconfig, the Ignition configs of masters and workers, and the Machines' metadata. What the removal meets is told, and holds nothing up. Deletes: Machine, OpenShiftConfig and Secret of the bootstrap.",
		Works.RemoveBootstrap, "Machine", "OpenShiftConfig", "Secret")
)

// The effects of the installation. Each is written before the state that it allows.
var (
	FreezeInputs = effect("FreezeInputs", "writes the digest of the inputs as a mark: from then on edits of the inputs are told and change nothing.",
		Works.FreezeInputs, "annotations of OpenShiftControlPlane")
	MarkInitialized = effect("MarkInitialized", "writes the mark that the guest's API has answered.",
		Works.MarkInitialized, "annotations of OpenShiftControlPlane")
	MarkFinished = effect("MarkFinished", "writes the mark that the bootstrap is finished: from then on there is never another bootstrap Machine.",
		Works.MarkFinished, "annotations of OpenShiftControlPlane")
	HandOver = effect("HandOver", "under Handover takes off the control-plane Machines what would hold their deletion for us; under Managed sets it. Has the Cluster own templates that were made anew.",
		Works.HandOver, "ownerReferences of templates", "annotations of Machine")
)

// The works of an installed cluster.
var (
	KeepInstalled = work("KeepInstalled", "renews the kubeconfig at half of its life, gives masters and workers their Ignition configs back where these are lost or altered, keeps the Machines' metadata and condition UpToDate, does what HandOver does where that is not done, and goes on removing the bootstrap, if anything of it is left. Deletes: Machine, OpenShiftConfig and Secret of the bootstrap.",
		Works.KeepInstalled, "Secret", "Machine", "OpenShiftConfig")
	AskUpgrade = work("AskUpgrade", "asks the guest for the release, and does as in Installed. Deletes: Machine, OpenShiftConfig and Secret of the bootstrap.",
		Works.AskUpgrade, "ClusterVersion of the guest", "Secret", "Machine", "OpenShiftConfig")
	ScaleMachines = work("ScaleMachines", "creates or deletes one control-plane Machine at a time, takes back what was begun and is not asked for any more, and does as in Installed. Deletes: a control-plane Machine, once etcd does without it; Machine, OpenShiftConfig and Secret of the bootstrap.",
		Works.ScaleMachines, "OpenShiftConfig", "infrastructure machines", "Machine", "Secret")
	ReplaceMachine = work("ReplaceMachine", "deletes one unhealthy control-plane Machine, and creates another in its place; does as in Installed. Deletes: a control-plane Machine, once etcd does without it; Machine, OpenShiftConfig and Secret of the bootstrap.",
		Works.ReplaceMachine, "OpenShiftConfig", "infrastructure machines", "Machine", "Secret")
)

// The works that take something down.
var (
	ClearAttempt = work("ClearAttempt", "writes the mark that the attempt is cleared away, from which on nothing goes on with it, deletes what the attempt has made, takes the marks off last, and notes which value of the annotation has asked for it. Deletes: Machines, OpenShiftConfigs, infrastructure machines, payload, certificates and kubeconfig of the attempt, and the Job of an installer with its ServiceAccount, Role and RoleBinding.",
		Works.ClearAttempt, "Machine", "OpenShiftConfig", "infrastructure machines", "Secret", "Job", "ServiceAccount", "Role", "RoleBinding", "annotations of OpenShiftControlPlane")
	DeleteCluster = effect("DeleteCluster", "waits until all workers are gone, whoever made them; then deletes the control-plane Machines, the bootstrap, what was half made, and Secrets, and takes the finalizer off last. Deletes: Machines, OpenShiftConfigs, infrastructure machines and Secrets of the cluster, and the Job of an installer with its ServiceAccount, Role and RoleBinding.",
		Works.DeleteCluster, "Machine", "OpenShiftConfig", "infrastructure machines", "Secret", "Job", "ServiceAccount", "Role", "RoleBinding", "finalizers of OpenShiftControlPlane")
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
