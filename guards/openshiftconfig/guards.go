package openshiftconfig

import "github.com/capstan-capi/capstan/machine"

type guard = machine.Guard[Facts]

// seen answers Unknown before the first look, and says why where a look was not whole.
func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown("the OpenShiftConfig has not been looked at yet")
		}
		answer := ask(f)
		if answer.Truth == machine.Unknown && f.Unseen != "" {
			return machine.SayUnknown(f.Unseen)
		}
		return answer
	}
}

// IsPaused asks whether people want nothing to be done.
var IsPaused = guard{
	Name: "IsPaused",
	Doc:  "The Cluster is paused, or the OpenShiftConfig has annotation cluster.x-k8s.io/paused.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Object.Paused:
			return machine.SayYes(f.Object.String() + " has annotation cluster.x-k8s.io/paused")
		case !f.Cluster.Known:
			return machine.SayUnknown("the Cluster has not been looked at yet")
		case f.Cluster.Paused:
			return machine.SayYes("Cluster " + f.Cluster.Name + " is paused")
		}
		return machine.SayNo("")
	}),
}

// OwnerIsSet asks whether a Machine owns the config, which Cluster API's own controller has it do.
var OwnerIsSet = guard{
	Name: "OwnerIsSet",
	Doc:  "A Machine is an owner of the OpenShiftConfig.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Machine.Known:
			return machine.SayUnknown("the owners have not been looked at yet")
		case f.Machine.Name == "":
			return machine.SayNo("no Machine refers to " + f.Object.String() + " yet")
		}
		return machine.SayYes("Machine " + f.Machine.Name + " owns it")
	}),
}

// BootHasBegun asks whether the machine was started: then nothing that it was started with is ever written again.
var BootHasBegun = guard{
	Name: "BootHasBegun",
	Doc:  "The Machine has its infrastructure, or the ID that a provider gives it, or its Node is known.",
	Ask: seen(func(f Facts) machine.Answer {
		switch m := f.Machine; {
		case !m.Known:
			return machine.SayUnknown("the owners have not been looked at yet")
		case m.Node != "":
			return machine.SayYes("Machine " + m.Name + " is Node " + m.Node)
		case m.Provisioned:
			return machine.SayYes("Machine " + m.Name + " has its infrastructure")
		}
		return machine.SayNo("")
	}),
}

// PayloadIsThere asks whether it is known what the machine is started with.
var PayloadIsThere = guard{
	Name: "PayloadIsThere",
	Doc:  "The control plane has made the Ignition config of the role, and what the spec wants to be merged into it is there.",
	Ask: seen(func(f Facts) machine.Answer {
		switch p := f.Payload; {
		case !p.Known:
			return machine.SayUnknown("the payload has not been looked at yet")
		case !p.There:
			return machine.SayNo(p.Missing)
		}
		return machine.SayYes("the Ignition config of a " + string(f.Object.Role) + " is there")
	}),
}

// ControlPlaneIsUp asks whether the machine finds a control plane to join. Only workers need one.
var ControlPlaneIsUp = guard{
	Name: "ControlPlaneIsUp",
	Doc:  "The Cluster says that its control plane is initialized, or the role is none that joins.",
	Ask: seen(func(f Facts) machine.Answer {
		switch c := f.Cluster; {
		case f.Object.Role == Bootstrap || f.Object.Role == Master:
			return machine.SayYes("")
		case !c.Known:
			return machine.SayUnknown("the Cluster has not been looked at yet")
		case !c.Initialized:
			return machine.SayNo("the control plane of Cluster " + c.Name + " is not initialized yet, and a worker joins it")
		}
		return machine.SayYes("the control plane of Cluster " + f.Cluster.Name + " is initialized")
	}),
}

// SecretIsRight asks whether the machine can be started.
var SecretIsRight = guard{
	Name: "SecretIsRight",
	Doc:  "The data Secret is there with the very bytes, labels and owner that it should have.",
	Ask: seen(func(f Facts) machine.Answer {
		switch s := f.Secret; {
		case !s.Known:
			return machine.SayUnknown("the data Secret has not been compared yet")
		case !s.There:
			return machine.SayNo("the data Secret of " + f.Object.String() + " is not there")
		case !s.Right:
			return machine.SayNo("the data Secret of " + f.Object.String() + " is not as it should be")
		}
		return machine.SayYes("the data Secret of " + f.Object.String() + " is as it should be")
	}),
}

// InputChanged asks whether people, or the control plane, have changed what the data is made of since the present state was entered.
var InputChanged = guard{
	Name: "InputChanged",
	Doc:  "The payload, what is merged into it, or the spec is another than when the state was entered, or so is somebody else's Secret that has the name of the data Secret, which may be gone.",
	Ask: seen(func(f Facts) machine.Answer {
		switch Fingerprint(f) {
		case "":
			return machine.SayUnknown("the payload has not been looked at yet")
		case f.Then.Inputs:
			return machine.SayNo("what the data is made of is what it was")
		}
		return machine.SayYes("what the data is made of has changed")
	}),
}

// WorkSucceeds asks whether what has led to Failed is over.
var WorkSucceeds = guard{
	Name: "WorkSucceeds",
	Doc:  "The work was tried again, and has met no error; where the Secret had only taken too long, it is as it should be.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Then.Event == ProgressStalled:
			return SecretIsRight.Answer(f)
		case f.Unseen != "" || !f.Payload.Known:
			return machine.SayUnknown("the payload has not been looked at yet")
		case f.Then.Failing:
			return machine.SayNo("")
		}
		return machine.SayYes("the work meets no error any more")
	}),
}
