package openshiftcontrolplane

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// InfrastructureIsReady asks whether the provider has provisioned what all machines share.
var InfrastructureIsReady = guard{
	Name: "InfrastructureIsReady",
	Doc:  "The Cluster says that its infrastructure is provisioned.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Cluster.Known:
			return machine.SayUnknown("the Cluster has not been looked at yet")
		case !f.Cluster.Provisioned:
			return machine.SayNo("the infrastructure of Cluster " + f.Cluster.Name + " is not provisioned yet")
		}
		return machine.SayYes("the infrastructure of Cluster " + f.Cluster.Name + " is provisioned")
	}),
}

// EndpointIsValid asks whether it is known where the guest's API will be.
var EndpointIsValid = guard{
	Name: "EndpointIsValid",
	Doc:  "The Cluster has a control-plane endpoint with a host and a port.",
	Ask: seen(func(f Facts) machine.Answer {
		const highest = 1<<16 - 1
		switch c := f.Cluster; {
		case !c.Known:
			return machine.SayUnknown("the Cluster has not been looked at yet")
		case c.Host == "" || c.Port < 1 || c.Port > highest:
			return machine.SayNo(fmt.Sprintf("the control-plane endpoint of Cluster %s is not valid: host %q, port %d", c.Name, c.Host, c.Port))
		}
		return machine.SayYes("")
	}),
}

// HooksAreMet asks whether others are done who have asked to be waited for.
var HooksAreMet = guard{
	Name: "HooksAreMet",
	Doc:  "Every condition on the Cluster that spec.hooks names for phase PostInfrastructure is True.",
	Ask: seen(func(f Facts) machine.Answer {
		if !f.Cluster.Known {
			return machine.SayUnknown("the Cluster has not been looked at yet")
		}
		var missing []string
		for _, hook := range f.Hooks {
			if hook.Phase == PostInfrastructure && !hook.Met {
				missing = append(missing, hook.Condition)
			}
		}
		if len(missing) > 0 {
			return machine.SayNo(fmt.Sprintf("Cluster %s lacks condition %s", f.Cluster.Name, few(missing)))
		}
		return machine.SayYes("")
	}),
}

// Held are the conditions that hold the removal of the bootstrap Machine: those that are not True, and whose time has not passed.
func (f Facts) Held() []string {
	var held []string
	for _, hook := range f.Hooks {
		if hook.Phase == PreBootstrapRemoval && !hook.Met && !hook.Over {
			held = append(held, hook.Condition)
		}
	}
	return held
}

// InputsAreResolved asks whether everything that is installed is at hand and valid.
var InputsAreResolved = guard{
	Name: "InputsAreResolved",
	Doc:  "The release's version is known, the install state, the manifests and the templates are there and valid, and they agree.",
	Ask: seen(func(f Facts) machine.Answer {
		switch in := f.Inputs; {
		case len(in.Problems) > 0:
			return machine.SayNo(few(in.Problems))
		case !in.Known || in.Digest == "":
			return machine.SayUnknown("the inputs have not been read yet")
		}
		return machine.SayYes("the inputs are whole and valid")
	}),
}

// PayloadStands asks whether machines can be started with what was made for them.
var PayloadStands = guard{
	Name: "PayloadStands",
	Doc:  "The Ignition configs of the three roles are there and valid, and they last until the bootstrap has to be over, or a Machine is there that was made with them.",
	Ask: seen(func(f Facts) machine.Answer {
		answer := of(f.Payload.Roles, "Ignition configs are valid")
		switch {
		case answer.Truth != machine.Yes || !f.Payload.Ending:
			return answer
		case !f.Bootstrap.Known || !f.Provisioned.Known:
			return machine.SayUnknown("it is not known yet whether a Machine was made with the payload, which would end too soon")
		case f.isUnused():
			return machine.SayNo("the payload would end before the bootstrap has to be over, and no Machine was made with it")
		}
		return answer
	}),
}

// isUnused says that no Machine is there, nor was, that the payload was made for.
func (f Facts) isUnused() bool {
	mark := f.Reached().Bootstrap
	return f.Bootstrap.UID == "" && (mark == "" || mark == Intended) && f.Provisioned.Done == 0 && f.Counts.Replicas == 0
}

// MachinesAreProvisioned asks whether the bootstrap machine and all of the control plane have their infrastructure.
var MachinesAreProvisioned = guard{
	Name: "MachinesAreProvisioned",
	Doc:  "The bootstrap Machine and as many control-plane Machines as are asked for have their infrastructure.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Bootstrap.Known:
			return machine.SayUnknown(f.Bootstrap.unknown())
		case f.Bootstrap.UID == "":
			return machine.SayNo("there is no bootstrap Machine yet")
		case !f.Bootstrap.Provisioned:
			return machine.SayNo("the bootstrap Machine is not provisioned yet" + f.Bootstrap.Waits)
		}
		return of(f.Provisioned, "control-plane Machines are provisioned")
	}),
}

// BootstrapIsKept asks whether the only bootstrap Machine that an attempt may have is there, or not made yet, or not needed any
// more, or on its way out with the attempt. One that is gone too soon ends the attempt.
var BootstrapIsKept = guard{
	Name: "BootstrapIsKept",
	Doc:  "The Machine whose UID the bootstrap mark has is there, or one that says that it is of the same attempt, or the mark has none yet, or the guest does without it, or the attempt is being cleared away.",
	Ask: seen(func(f Facts) machine.Answer {
		marks := f.Reached()
		switch {
		case marks.Finished || marks.Bootstrap == "" || marks.Bootstrap == Intended || marks.Clears():
			return machine.SayYes("")
		case !f.Bootstrap.Known:
			return machine.SayUnknown(f.Bootstrap.unknown())
		case f.Bootstrap.UID == marks.Bootstrap:
			return machine.SayYes("")
		case f.Bootstrap.UID != "" && f.Bootstrap.Attempt != "" && f.Bootstrap.Attempt == f.AttemptID(): // moved, or restored
			return machine.SayYes("")
		case !marks.Initialized && !f.Guest.API: // nothing answers that could do without it
		case !f.Guest.Known:
			return machine.SayUnknown("the bootstrap Machine is gone, and it is not known whether the guest does without it")
		case doesWithout(f):
			return machine.SayYes("the bootstrap Machine is gone, and the guest does without it")
		}
		return machine.SayNo("the bootstrap Machine is gone before the bootstrap was finished, and there is no other one for this attempt: annotation capstan.openshift.io/retry with a new value that begins with from-scratch clears it away")
	}),
}

// unknown is why nothing is known of it.
func (b Bootstrap) unknown() string {
	if b.Problem != "" {
		return "the bootstrap Machine cannot be read: " + b.Problem
	}
	return "Machines have not been listed yet"
}

func doesWithout(f Facts) bool {
	return BootstrapIsComplete.Answer(f).Truth == machine.Yes && NodesAreReady.Answer(f).Truth == machine.Yes && EtcdIsAlone.Answer(f).Truth == machine.Yes
}

// APIAnswers asks whether the guest can be talked to. One that cannot be reached is Unknown: it may be the way to it.
var APIAnswers = guard{
	Name: "APIAnswers",
	Doc:  "The guest's API has answered the last probe. One that is not known to be ours counts as one that does not answer, but for what is told of a cluster whose bootstrap is finished.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Guest.API:
			return machine.SayYes("the guest's API answers")
		case f.Guest.APIProblem != "":
			return machine.SayUnknown("the guest's API does not answer: " + machine.Shorten(f.Guest.APIProblem, 200))
		}
		return machine.SayUnknown("the guest's API has not been asked yet")
	}),
}

// read asks the guest something, of which nothing is known while it was not read.
func read(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return seen(func(f Facts) machine.Answer {
		switch {
		case f.Guest.Known:
			return ask(f)
		case f.Guest.Unasked:
			return machine.SayUnknown("") // for a moment, which is not worth a write
		case f.Guest.APIProblem != "":
			return machine.SayUnknown("the guest's API does not answer: " + machine.Shorten(f.Guest.APIProblem, 200))
		}
		return machine.SayUnknown("the guest has not been read yet")
	})
}

// BootstrapIsComplete asks whether the bootstrap machine says that it is done.
var BootstrapIsComplete = guard{
	Name: "BootstrapIsComplete",
	Doc:  "ConfigMap kube-system/bootstrap of the guest has status complete.",
	Ask: read(func(f Facts) machine.Answer {
		if !f.Guest.Complete {
			return machine.SayNo("ConfigMap kube-system/bootstrap of the guest does not say complete yet")
		}
		return machine.SayYes("the bootstrap machine says that it is done")
	}),
}

// NodesAreReady asks whether the control plane can do without the bootstrap machine.
var NodesAreReady = guard{
	Name: "NodesAreReady",
	Doc:  "More than half of the control-plane Machines that are asked for, or are there, have a Node that is Ready.",
	Ask: read(func(f Facts) machine.Answer {
		nodes, all := f.Guest.Nodes, max(f.Object.Replicas, f.Counts.Replicas) // a member that is asked for no more is one all the same
		quorum := all/2 + 1
		switch {
		case !nodes.Known || f.Object.Replicas == 0:
			return machine.SayUnknown("the Nodes of control-plane Machines are not known yet")
		case nodes.Done < quorum:
			return machine.SayNo(fmt.Sprintf("%d of %d Nodes of control-plane Machines are Ready, and %d are needed", nodes.Done, all, quorum))
		}
		return machine.SayYes(fmt.Sprintf("%d of %d Nodes of control-plane Machines are Ready", nodes.Done, all))
	}),
}

// EtcdIsAlone asks whether etcd does without its member on the bootstrap machine.
var EtcdIsAlone = guard{
	Name: "EtcdIsAlone",
	Doc:  "The guest's etcds/cluster has condition EtcdBootstrapMemberRemoved True.",
	Ask: read(func(f Facts) machine.Answer {
		if !f.Guest.EtcdAlone {
			return machine.SayNo("etcd of the guest still has its member on the bootstrap machine")
		}
		return machine.SayYes("etcd of the guest has no member on the bootstrap machine")
	}),
}

// RemovalIsOver asks whether nothing is being taken away, neither a bootstrap nor an attempt.
var RemovalIsOver = guard{
	Name: "RemovalIsOver",
	Doc:  "No mark says that the attempt is to be cleared away, and once the bootstrap is finished it is gone, or it is to stay.",
	Ask: seen(func(f Facts) machine.Answer {
		switch marks := f.Reached(); {
		case marks.Finished:
			return BootstrapIsGone.Answer(f)
		case marks.Clears():
			return machine.SayNo("the attempt is being cleared away")
		}
		return machine.SayYes("")
	}),
}

// BootstrapIsGone asks whether nothing of the bootstrap Machine is left, or all of it is to stay.
var BootstrapIsGone = guard{
	Name: "BootstrapIsGone",
	Doc:  "The bootstrap Machine, its config and its payload are gone, or spec.bootstrapMachine.deletePolicy is Retain.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Object.Retain {
			return machine.SayYes("the bootstrap Machine is retained")
		}
		answer := of(f.Bootstrap.Removal, "of the bootstrap's objects are gone")
		if held := f.Held(); answer.Truth == machine.No && len(held) > 0 {
			answer.Reason += fmt.Sprintf("; Cluster %s lacks condition %s, which holds the removal", f.Cluster.Name, few(held))
		}
		if answer.Truth == machine.No && f.Bootstrap.Problem != "" {
			answer.Reason += "; the removal is refused: " + f.Bootstrap.Problem
		}
		return answer
	}),
}

// InputsHaveDrifted asks whether somebody has edited the inputs since they were frozen. That is told, and changes nothing.
var InputsHaveDrifted = guard{
	Name: "InputsHaveDrifted",
	Doc:  "The inputs are frozen, and others now than then.",
	Ask: seen(func(f Facts) machine.Answer {
		frozen := f.Reached().Inputs
		switch {
		case frozen == "":
			return machine.SayNo("the inputs are not frozen yet")
		case !f.Inputs.Known:
			return machine.SayUnknown("the inputs have not been read yet")
		case f.Inputs.Digest == "" && len(f.Inputs.Problems) > 0:
			return machine.SayYes("the inputs were edited or removed after they were frozen, which changes nothing: " + few(f.Inputs.Problems))
		case f.Inputs.Digest == "":
			return machine.SayUnknown("the inputs have not been read yet")
		case f.Inputs.Digest != frozen:
			return machine.SayYes("the inputs were edited after they were frozen, which changes nothing")
		}
		return machine.SayNo("the inputs are what they were when they were frozen")
	}),
}
