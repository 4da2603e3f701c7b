package clusterapi

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// Who is called to what. What a row stands for has lasted for patience already
// where the table says so; the time here comes on top of it.
var (
	waitsLong = machine.Alert{
		Name: "CapstanWaitingOnInfra", Severity: machine.Warning, After: time.Hour,
		Summary: "Capstan waits in WaitingOnInfra for the platform, for ClusterAPI cluster, for the former installer to end, or for the list of its release",
	}
	isDegraded = machine.Alert{
		Name: "CapstanDegraded", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot install, upgrade or keep Cluster API",
	}
	keepingFails = machine.Alert{
		Name: "CapstanKeepingFails", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot keep what is installed as it should be",
	}
	listIsFull = machine.Alert{
		Name: "CapstanMaxRevisions", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan's list of revisions is full, and a new one is needed",
	}
	isUnavailable = machine.Alert{
		Name: "CapstanUnavailable", Severity: machine.Critical, After: 10 * time.Minute,
		Summary: "Cluster API has stopped working",
	}
	inputsAreWrong = machine.Alert{
		Name: "CapstanInputsRefused", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot plan what its inputs ask for until one of them is changed",
	}
	inputsAreOut = machine.Alert{
		Name: "CapstanInputsUnplannable", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot plan what its inputs ask for",
	}
	formerRuns = machine.Alert{
		Name: "CapstanFormerInstaller", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "The installer that OpenShift shipped before Capstan still runs",
	}
	listIsOthers = machine.Alert{
		Name: "CapstanListOfAnotherRelease", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan's list of images is for the operator of another release",
	}
	isPaused = machine.Alert{
		Name: "CapstanPaused", Severity: machine.Warning, After: 25 * time.Hour,
		Summary: "Capstan has been paused, or has left objects alone, for more than a day",
	}
	uninstallIsAsked = machine.Alert{
		Name: "CapstanUninstallAwaitsConsent", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan's inputs ask for an uninstallation that nobody has consented to",
	}
)

// notices are the objects that need a look.
var notices = []machine.Notice[*phases.Pass]{
	{
		Name: "collision", Count: func(p *phases.Pass) int { return len(p.Display.Collisions) },
		Alert: machine.Alert{
			Name: "CapstanCollision", Severity: machine.Warning, After: 15 * time.Minute,
			Summary: "Objects of other owners are in Capstan's way",
		},
		Doc: "Objects of the revision exist already and belong to somebody else. The next upgrade would fail, and a rollout waits.",
	},
	{
		Name: "refused", Count: func(p *phases.Pass) int { return len(p.Display.Refused) },
		Alert: machine.Alert{
			Name: "CapstanRefusedUpdate", Severity: machine.Warning, After: 15 * time.Minute,
			Summary: "Capstan refuses an update that would lose users' data",
		},
		Doc: "An update is not sent because data of users would be lost with it. The next upgrade would fail, and a rollout waits.",
	},
	{
		Name: "contested", Count: func(p *phases.Pass) int { return len(p.Display.Contested) },
		Alert: machine.Alert{
			Name: "CapstanContested", Severity: machine.Info, After: time.Hour,
			Summary: "Somebody keeps changing what Capstan has applied",
		},
		Doc: "A field of an applied object is changed by somebody else again and again, and put right less and less often.",
	},
	{
		Name: "stray", Count: func(p *phases.Pass) int { return len(p.Display.Strays) + p.Display.MoreStrays },
		Alert: machine.Alert{
			Name: "CapstanStrays", Severity: machine.Info, After: time.Hour,
			Summary: "There are objects with Capstan's marks that no revision knows",
		},
		Doc: "Objects carry this installation's marks, and no inventory lists them. Capstan deletes none of them.",
	},
	{
		Name: "retained", Count: func(p *phases.Pass) int { return len(p.Display.Retained) },
		Doc: "Objects that no revision has any more are kept for the data in them. Nothing is wrong.",
	},
	{
		Name: "leftalone", Count: func(p *phases.Pass) int { return len(p.Display.LeftAlone) }, Alert: isPaused,
		Doc: "Objects are left alone, because people ask for that: they are not written, created or deleted.",
	},
	{
		Name: "finalizer", Count: func(p *phases.Pass) int { return p.Display.Finalizers },
		Doc: "Objects are being deleted and wait for finalizers. What waits for too long leads to Degraded.",
	},
}
