// Package openshiftconfig holds the facts that the machine openshiftconfig decides on, and the questions it asks of them. It says
// whether a machine of an OpenShift cluster can be started, and with what. Nothing here looks, waits or remembers.
package openshiftconfig

import "github.com/capstan-capi/capstan/machine"

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Pending         machine.State = "Pending"
	AwaitingPayload machine.State = "AwaitingPayload"
	Publishing      machine.State = "Publishing"
	Ready           machine.State = "Ready"
	Frozen          machine.State = "Frozen"
	Failed          machine.State = "Failed"
	Paused          machine.State = "Paused"
)

// ProgressStalled is the event of a Secret that has taken too long.
const ProgressStalled machine.Event = "ProgressStalled"

// Role is what a machine is started as, as the API spells it.
type Role string

// The roles.
const (
	Bootstrap Role = "bootstrap"
	Master    Role = "master"
	Worker    Role = "worker"
)

// Facts is what one look at an OpenShiftConfig, its Machine and its control plane has shown. Zero values mean "not seen".
type Facts struct {
	// Seen says that the OpenShiftConfig was looked at.
	Seen bool `yaml:"seen"`
	// Unseen says what could not be read this time, and why; empty where all was. What it would have shown is not known.
	Unseen string `yaml:"unseen"`
	Object Object `yaml:"object"`
	// Machine is the owner, Cluster that of the Machine.
	Machine Machine `yaml:"machine"`
	Cluster Cluster `yaml:"cluster"`
	Payload Payload `yaml:"payload"`
	Secret  Secret  `yaml:"secret"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// Object is the OpenShiftConfig.
type Object struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	Role      Role   `yaml:"role"`
	// Paused says that it has Cluster API's annotation for that.
	Paused bool `yaml:"paused"`
}

func (o Object) String() string {
	if o.Namespace == "" {
		return "OpenShiftConfig " + o.Name
	}
	return "OpenShiftConfig " + o.Namespace + "/" + o.Name
}

// Machine is the one that is started with the config. Known is false until the owner references were followed; Name is empty where
// there is no owner.
type Machine struct {
	Known bool   `yaml:"known"`
	Name  string `yaml:"name"`
	// Provisioned says that it has its infrastructure, Node which Node it is, empty while none is known. Either way it was started.
	Provisioned bool   `yaml:"provisioned"`
	Node        string `yaml:"node"`
}

// Cluster is that of the Machine. Known is false until it was looked at.
type Cluster struct {
	Known  bool   `yaml:"known"`
	Name   string `yaml:"name"`
	Paused bool   `yaml:"paused"`
	// Initialized is the contract's controlPlaneInitialized: workers find a control plane to join.
	Initialized bool `yaml:"initialized"`
}

// Payload is the Ignition config of the role, with what is merged into it. Known is false until the Secrets were read.
type Payload struct {
	Known bool `yaml:"known"`
	There bool `yaml:"there"`
	// Missing says what is not there yet.
	Missing string `yaml:"missing"`
	// Digest is of all that makes the data: payload, overrides and spec.
	Digest string `yaml:"digest"`
}

// Secret is what the machine is started with. Known is false until it was compared with what it should hold.
type Secret struct {
	Known bool `yaml:"known"`
	There bool `yaml:"there"`
	// Right says that it has the very bytes, labels and owner that it should have.
	Right bool `yaml:"right"`
	// Others is the UID of one that is somebody else's, empty for none.
	Others string `yaml:"others"`
}

// Then is how things stood when the present state was entered.
type Then struct {
	State  machine.State
	Event  machine.Event
	Inputs string
	// Failing says that the work has met an error, which it has not overcome.
	Failing bool
}

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record, _ machine.Resumed) {
	f.Then = Then{State: r.State, Event: r.LastEvent, Inputs: r.Entry.Inputs, Failing: r.Failure != nil}
}

// Fingerprint is all that people can change to heal a failure, empty while it is not known: what the data is made of, and a Secret of
// somebody else's that is in the way.
func Fingerprint(f Facts) string {
	switch {
	case !f.Seen || !f.Payload.Known:
		return ""
	case f.Secret.Others != "":
		return f.Payload.Digest + " " + f.Secret.Others
	}
	return f.Payload.Digest
}
