package clusterapi

import (
	"github.com/capstan-capi/capstan/machine"
)

// What has to be there, and who must not, before anything is planned.

// ClusterAPIIsOurs asks for the object that revisions are written to, and that nobody else installs by it.
var ClusterAPIIsOurs = machine.Guard[Facts]{
	Name: "ClusterAPIIsOurs",
	Doc:  "The ClusterAPI object named cluster exists, and no installer that OpenShift shipped before runs, which writes to it too.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.FormerInstaller != "":
			return machine.SayNo(f.FormerInstaller + "; this operator plans nothing beside it; to see what ends it: capstan takeover --dry-run")
		case !f.ClusterAPI:
			return machine.SayNo("ClusterAPI cluster does not exist; create it to go on")
		}
		return machine.SayYes("")
	}),
}

// FormerInstallerRuns asks for an installer that would undo what this operator does.
var FormerInstallerRuns = machine.Guard[Facts]{
	Name: "FormerInstallerRuns",
	Doc:  "A Deployment of the installer that OpenShift shipped before runs, or its Lease is held.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.FormerInstaller != "", f.FormerInstaller)
	}),
}

// ListForAnotherRelease asks whether the list of images is one that another operator has to follow.
var ListForAnotherRelease = machine.Guard[Facts]{
	Name: "ListForAnotherRelease",
	Doc:  "The list of images names another release than this operator's, so that the operator of that release has to follow it.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.ListRelease != "", unless(f.ListRelease == "", f.Planning))
	}),
}

// ListIsOurs asks whether there is anything to do before the operator of another release comes.
var ListIsOurs = machine.Guard[Facts]{
	Name: "ListIsOurs",
	Doc:  "The list of images is for this operator's release or for every one, or the desired revision has to be rolled out all the same.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.ListRelease == "" || unfinished(f), unless(f.ListRelease == "", f.Planning))
	}),
}

// unfinished says that the desired revision is this operator's and not fully applied yet.
func unfinished(f Facts) bool {
	return f.DesiredNumber > 0 && f.DesiredForeign == "" && f.DesiredNumber != f.CurrentNumber
}

// PlatformKnown asks for the platform that profiles are chosen by.
var PlatformKnown = machine.Guard[Facts]{
	Name: "PlatformKnown",
	Doc:  "Infrastructure cluster has a status.platformStatus.type.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Platform == "" {
			return machine.SayNo("Infrastructure cluster has no status.platformStatus.type yet")
		}
		return machine.SayYes("the platform is " + f.Platform)
	}),
}
