package openshiftcontrolplane

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// GuestIsHealthy asks whether the guest itself says that all is well.
var GuestIsHealthy = guard{
	Name: "GuestIsHealthy",
	Doc:  "The guest's ClusterVersion and all of its ClusterOperators are Available, and none is Degraded.",
	Ask: read(func(f Facts) machine.Answer {
		return of(f.Guest.Operators, "of the guest's operators are available")
	}),
}

// IsWell asks whether nothing is the matter with an installed cluster, neither with the guest nor with the work on it.
var IsWell = guard{
	Name: "IsWell",
	Doc:  "The guest's ClusterVersion and all of its ClusterOperators are Available, and none is Degraded. The last pass of the work before this one met no error; before a first pass there is none, so that it has to last.",
	Ask:  machine.All(GuestIsHealthy, WorkSucceeds).Answer,
}

// UpgradeIsWanted asks whether another release is asked for, and allowed: never an older one, at most one minor version ahead, and
// not against the guest's own word.
var UpgradeIsWanted = wanted("UpgradeIsWanted", func(f Facts) Wish { return f.Upgrade },
	"The spec names a newer release than the guest has and has begun, at most one minor version ahead, and the guest's Upgradeable does not speak against it; or the guest was asked by us for one that it has not begun, and that is no more asked for. The guest is known to be ours, see GuestIsOurs.")

// ScaleIsWanted asks whether another number of machines is asked for, and safe.
var ScaleIsWanted = wanted("ScaleIsWanted", func(f Facts) Wish { return f.Scaling },
	"Management is Managed, and another number of control-plane machines is asked for than there is, or one of them has no Node yet or is half made. All Nodes and etcd members are healthy and no other Machine is being deleted, unless what goes never was a Node. The guest is known to be ours, see GuestIsOurs.")

// RemediationIsNeeded asks whether a Machine has to be replaced, and can be.
var RemediationIsNeeded = wanted("RemediationIsNeeded", func(f Facts) Wish { return f.Remediation },
	"Management is Managed, a control-plane Machine was found to be unhealthy, all other Nodes and etcd members are healthy and a quorum without it, and no other Machine is being deleted. The guest is known to be ours, see GuestIsOurs.")

// wish is what an installed cluster is asked for in a state in which that is done, nothing in others.
func (f Facts) wish(state machine.State) Wish {
	switch state {
	case Upgrading:
		return f.Upgrade
	case Scaling:
		return f.Scaling
	case Remediating:
		return f.Remediation
	}
	return Wish{Known: true}
}

// IsGivenUp asks whether something is asked for still that was not brought to its end.
var IsGivenUp = guard{
	Name: "IsGivenUp",
	Doc:  "The upgrade, or the change of machines, that met errors or made no progress is asked for still, and since then no other one, nor another try by a new value of annotation capstan.openshift.io/retry.",
	Ask: seen(func(f Facts) machine.Answer {
		_, then, what := split(f.Then.Inputs)
		_, retry, _ := split(Fingerprint(f))
		switch wish := f.wish(f.Then.From); {
		case f.Then.State == "":
			return machine.SayUnknown("the state is not known")
		case !wish.Known:
			return machine.SayUnknown("")
		case wish.Asked == "" || !wish.isNoted(what) || then != retry:
			return machine.SayNo("")
		default:
			return machine.SayYes(wish.Asked + " was given up; another try is asked for by a new value of annotation capstan.openshift.io/retry")
		}
	}),
}

func wanted(name string, of func(Facts) Wish, doc string) guard {
	return guard{Name: name, Doc: doc, Ask: seen(func(f Facts) machine.Answer {
		switch wish := of(f); {
		case !wish.Known:
			return machine.SayUnknown("")
		case wish.Asked == "":
			return machine.SayNo("")
		case wish.Unasked != "":
			return machine.SayNo(wish.Asked + " is asked for, and nobody knows what that is: " + wish.Unasked)
		case wish.Refused != "":
			return machine.SayNo(wish.Asked + " is asked for, and not done: " + wish.Refused)
		default:
			return machine.SayYes(wish.Asked + " is asked for")
		}
	})}
}

// UpgradeIsDone asks whether the guest has the release, or must not be asked for it: its word may have changed on the way.
var UpgradeIsDone = unlessRefused(done("UpgradeIsDone", func(f Facts) Wish { return f.Upgrade }, "operators have the new release",
	"The guest's ClusterVersion says that the release that was asked for is installed, or no other one is asked for any more, or it is refused before the guest was asked."))

// unlessRefused answers Yes where an upgrade is refused. What is under way is not.
func unlessRefused(g guard) guard {
	ask := g.Ask
	g.Ask = func(f Facts) machine.Answer {
		if w := f.Upgrade; f.Seen && w.Known && w.Asked != "" && w.Refused != "" {
			return machine.SayYes(w.Asked + " is asked for, and not done: " + w.Refused)
		}
		return ask(f)
	}
	return g
}

// ScaleIsDone asks whether there are as many machines as asked for.
var ScaleIsDone = done("ScaleIsDone", func(f Facts) Wish { return f.Scaling }, "Machines are as asked for",
	"There are as many control-plane Machines as asked for, each with a Node that is Ready.")

// RemediationIsDone asks whether a Machine was replaced.
var RemediationIsDone = done("RemediationIsDone", func(f Facts) Wish { return f.Remediation }, "Machines are replaced",
	"No control-plane Machine is unhealthy any more, and as many as asked for are there.")

func done(name string, wish func(Facts) Wish, things, doc string) guard {
	return guard{Name: name, Doc: doc, Ask: seen(func(f Facts) machine.Answer {
		switch w := wish(f); {
		case !w.Known:
			return machine.SayUnknown("")
		case w.Asked == "":
			return machine.SayYes("nothing is asked for any more")
		case w.Unasked != "":
			return machine.SayUnknown("it is not known whether " + w.Asked + " is there: " + w.Unasked)
		default:
			return of(w.Steps, things)
		}
	})}
}

// KubeconfigStands asks whether people can reach the guest. A kubeconfig of somebody else is used as it is, and never renewed here.
var KubeconfigStands = guard{
	Name: "KubeconfigStands",
	Doc:  "The Secret with the guest's kubeconfig is there and can be used.",
	Ask: seen(func(f Facts) machine.Answer {
		ends := ""
		if k := f.Kubeconfig; k.Expiring {
			ends = "its certificate is valid until " + k.NotAfter.UTC().Format(time.DateOnly)
		}
		switch k := f.Kubeconfig; {
		case !k.Known:
			return machine.SayUnknown("the kubeconfig has not been looked for yet")
		case k.Problem != "":
			return machine.SayNo("the Secret of the kubeconfig cannot be used: " + k.Problem)
		case !k.There:
			return machine.SayNo("there is no kubeconfig yet")
		case k.External:
			whose := "ExternallyIssued: the kubeconfig is somebody else's, who renews it, too"
			if f.Payload.Roles.Known && f.Payload.ClusterID == "" {
				whose += ", and it is not known whether it leads to the cluster that was made here"
			}
			return machine.SayYes(joined(whose, ends))
		}
		return machine.SayYes(ends)
	}),
}

// IsAvailable asks whether the control plane can be used: its API answers, and nothing that it says speaks against it. One that
// does not answer is Unknown at first, and not available once it has been silent for long.
var IsAvailable = guard{
	Name: "IsAvailable",
	Doc:  "The guest's API has answered and goes on to do so, and once the bootstrap is finished its operators are available.",
	Ask: seen(func(f Facts) machine.Answer {
		marks := f.Reached()
		switch answers := APIAnswers.Answer(f); {
		case !marks.Initialized:
			return machine.SayNo("the guest's API has not answered yet")
		case answers.Truth != machine.Yes && f.Guest.Silent:
			return machine.SayNo(answers.Reason)
		case answers.Truth != machine.Yes || !marks.Finished:
			return answers
		}
		return GuestIsHealthy.Answer(f)
	}),
}
