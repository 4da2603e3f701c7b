// Package bootimage holds the facts that the machine bootimage decides on, and the questions it asks
// of them. Nothing here looks, waits or remembers.
package bootimage

import (
	"fmt"
	"hash/fnv"

	"github.com/capstan-capi/capstan/machine"
)

// The annotations of a target that are heard here.
const (
	AdoptImageAnnotation   = "capi-operator.openshift.io/boot-image-adopt"
	AllowRolloutAnnotation = "capi-operator.openshift.io/boot-image-allow-rollout"
	RetryAnnotation        = "capi-operator.openshift.io/retry"
)

// The APIs that targets are of.
const (
	MachineAPI = "MachineAPI"
	ClusterAPI = "ClusterAPI"
)

// MaxAttempts is how often a target is set to one value that does not stay.
const MaxAttempts = 3

// Facts is what one look at a target and at what it needs has shown. Zero values mean "not seen".
type Facts struct {
	// Seen says that the target was looked at.
	Seen      bool      `yaml:"seen"`
	Object    Object    `yaml:"object"`
	Enrolment Enrolment `yaml:"enrolment"`
	Others    Others    `yaml:"others"`
	Gate      Gate      `yaml:"gate"`
	Target    Target    `yaml:"target"`
	Verdict   Verdict   `yaml:"verdict"`
	Stub      Stub      `yaml:"stub"`
	Template  Template  `yaml:"template"`
	Attempts  Attempts  `yaml:"attempts"`
	Plan      Plan      `yaml:"plan"`
	Write     Write     `yaml:"write"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// Object names a target. Resource is as a command takes it, such as machinesets.machine.openshift.io.
type Object struct {
	API       string `yaml:"api"`
	Kind      string `yaml:"kind"`
	Resource  string `yaml:"resource"`
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	UID       string `yaml:"uid"`
}

func (o Object) String() string { return o.Kind + " " + o.Name }

// Enrolment says whether the administrator has opted a target in. Known is false until that can be told.
type Enrolment struct {
	Known bool `yaml:"known"`
	Is    bool `yaml:"is"`
	// By is what selects the target, and what that says: an annotation, or an entry of the resolved configuration.
	By string `yaml:"by"`
	// OtherCluster is the Cluster that the target is of, if that is not this one.
	OtherCluster string `yaml:"otherCluster"`
}

// Gate is what the machine bootgate has made known in this process. Known is false until it has, and while it cannot tell.
type Gate struct {
	Known bool   `yaml:"known"`
	Open  bool   `yaml:"open"`
	Why   string `yaml:"why"`
}

// Target is what is in the target itself. Read is false until it was read.
type Target struct {
	Read bool `yaml:"read"`
	// Problem says why it cannot be understood, empty if it can. Image is the reference in it.
	Problem string `yaml:"problem"`
	Image   string `yaml:"image"`
	// Fields is a fingerprint of the target's fields and annotations that matter.
	Fields string `yaml:"fields"`
}

// Verdict is what comes of comparing the target with the golden content that the gate has judged. Known is false until then.
type Verdict struct {
	Known bool `yaml:"known"`
	// Wanted is the wanted image, empty if none is known; Same says that the present one is that, however it is written.
	Wanted string `yaml:"wanted"`
	Same   bool   `yaml:"same"`
	// Skip says why the target's image is not changed, empty if it may be, and Detail what exactly, such as a region.
	Skip   Skip   `yaml:"skip"`
	Detail string `yaml:"detail"`
	// Uncounted says that nobody expects the target to move.
	Uncounted bool `yaml:"uncounted"`
}

// Stub is the Ignition stub that the target's machines start from. Known is false until it was read.
type Stub struct {
	Known  bool   `yaml:"known"`
	Unread string `yaml:"unread"`
	// Secret is where it lies, and SecretVersion which version of that was read. Both are empty for a stub that a bootstrap
	// provider makes.
	Secret        string `yaml:"secret"`
	SecretVersion string `yaml:"secretVersion"`
	// Old says that it is older than spec 3, Spec which one it is of.
	Old  bool   `yaml:"old"`
	Spec string `yaml:"spec"`
	// Awaits names the Secret that this one is a copy of, if that is upgraded and this one follows by others' doing.
	Awaits string `yaml:"awaits"`
}

// Template is the clone of the infrastructure template, of targets of the Cluster API. Known is false until it was looked for.
type Template struct {
	Known   bool   `yaml:"known"`
	Ready   bool   `yaml:"ready"`
	Name    string `yaml:"name"`
	Version string `yaml:"version"`
	// Retiring says that one of that name is being deleted, since nothing needed it when that was asked.
	Retiring bool `yaml:"retiring"`
}

// Attempts are those at the wanted image that have not been forgotten. Known is false until they are.
type Attempts struct {
	Known bool `yaml:"known"`
	Made  int  `yaml:"made"`
	// Own says that the plan at hand is one of them.
	Own bool `yaml:"own"`
	// LastWriter is who wrote the target last, and StubUpgraded the Secret that was upgraded for an attempt, if any.
	LastWriter   string `yaml:"lastWriter"`
	StubUpgraded string `yaml:"stubUpgraded"`
	// RetriesUsed says that no value of the annotation retry asks for more attempts any longer.
	RetriesUsed bool `yaml:"retriesUsed"`
}

// Plan is what was wanted, and of what, when Deciding was left for UpgradingStub. Known is false until it was looked for.
type Plan struct {
	Known bool `yaml:"known"`
	// None says that there is none.
	None          bool   `yaml:"none"`
	Wanted        string `yaml:"wanted"`
	Old           string `yaml:"old"`
	SecretVersion string `yaml:"secretVersion"`
}

// Write is how far the last write has come. Known is false as long as nobody can tell whether what is seen is later.
type Write struct {
	Known bool `yaml:"known"`
	Seen  bool `yaml:"seen"`
}

// Then is how things stood when the present state was entered: by which event, from where, and with which inputs.
type Then struct {
	Event   machine.Event
	From    machine.State
	Inputs  string
	Failing bool
	// Resumed is what the moves of the state say that a failure or a deadline has led from.
	Resumed machine.Resumed
}

// Progress counts the steps on the way of an image that are done.
func Progress(f Facts) (done int, known bool) {
	for _, step := range []machine.Guard[Facts]{StubIsReady, TemplateIsReady, WriteIsSeen} {
		if step.Answer(f).Truth == machine.Yes {
			done++
		}
	}
	return done, f.Seen
}

// Inputs is the fingerprint whose change is a reason to try again. It is empty until all of it is known.
func Inputs(f Facts) string {
	if !f.Seen || !f.Target.Read || !f.Verdict.Known && f.Target.Problem == "" {
		return ""
	}
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%q", []string{ // it never fails
		f.Object.UID, f.Target.Image, f.Target.Fields, f.Target.Problem, f.Verdict.Wanted, string(f.Verdict.Skip), f.Verdict.Detail,
		f.Stub.Secret, f.Stub.SecretVersion, f.Stub.Awaits, f.Template.Name, f.Template.Version,
	})
	return fmt.Sprintf("%016x", hash.Sum64())
}

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record, resumed machine.Resumed) {
	f.Then = Then{Event: r.LastEvent, From: r.CameFrom, Inputs: r.Entry.Inputs, Failing: r.Failure != nil, Resumed: resumed}
}
