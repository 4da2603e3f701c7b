// Package bootimage does the looking and the doing of the machine bootimage: it reads targets, their stubs and their
// templates, and writes what is planned for them. It decides nothing; which phase runs when is in
// machine/bootimage/table.go.
package bootimage

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Failed is the state in which writes are tried as dry runs, HotLoop the one of targets that do not keep what is written, and
// Skipped the one of those whose image is not replaced.
const (
	Skipped machine.State = "Skipped"
	Failed  machine.State = "Failed"
	HotLoop machine.State = "HotLoop"
)

// Controller is the part of the machine that is summed up on the ClusterOperator.
const Controller = "BootImagesController"

// ClusterOperator is the one that targets are told of on, and GateDetail where the gate tells of them in its status.extension.
const (
	ClusterOperator = "cluster-api"
	GateDetail      = "bootgateDetail"
)

// MachineAPINamespace is where Machine API's objects are.
const MachineAPINamespace = "openshift-machine-api"

// soon is after how long something is looked at again that comes by itself.
const soon = time.Second

// Snapshot is a target after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Phases is what the machine's work is done with. It must not be copied.
type Phases struct {
	// Client reads from caches, and Live from the API server itself. Writer writes.
	Client client.Reader
	Live   client.Reader
	Writer client.Client
	Board  *bootboard.Board
	Notes  Notes
	// MachineAPI and ClusterAPI say which APIs' targets are looked at; of Machine API the authority is looked at all the same.
	MachineAPI, ClusterAPI bool
	// CAPINamespace is where targets of Cluster API are.
	CAPINamespace string
	// Stream is the stream of operating systems that the golden images are of.
	Stream string
	Now    func() time.Time
	// Steady is a time that is never set back.
	Steady func() time.Time
	// Convert brings user data of spec 2 to spec 3.1, or gives an error that is terminal where it has no equivalent there.
	Convert func(ctx context.Context, userData []byte) ([]byte, error)
	// Blind is why what Client reads is not all there is yet; empty if it is.
	Blind func() string
	// Served says that the API server has a kind of targets.
	Served func(golden.Kind) bool
	// Wrote is told what came of a write to a target, and Contested of one that did not keep what was written three times; nil for
	// nobody.
	Wrote     func(result string)
	Contested func()
	// Event is given each Event that is to be written, but for those of moves; nil for nobody.
	Event func(events.Event)
	// Wake has a target looked at again.
	Wake func(machine.Key)

	stubs  stubs
	memory memory
}

// Notes keep what must count whatever becomes of a target: the attempts at it. See [records.ConfigMaps].
type Notes interface {
	Note(ctx context.Context, key machine.Key) (json.RawMessage, error)
	StoreNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) error
	OfferNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) (stored bool, err error)
	HoldsNote(key machine.Key, note json.RawMessage) bool
}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	Key machine.Key
	// Target is what was looked at, nil if there is none.
	Target *Target
	// Verdict is the gate's, and Judged what comes of it for the target.
	Verdict bootboard.Verdict
	Judged  golden.Verdict
	// Tries says that the target is Failed: writes are sent as dry runs.
	Tries bool
	// UID is the target's.
	UID string

	facts guards.Facts
	// attempts are those that are stored, as they were read.
	attempts attempts
	seen     json.RawMessage
	plan     *plan
	stub     stubSeen
	shared   sharedStub
	clone    *unstructured.Unstructured
	// original is the Secret that the target's own is a copy of, empty for none.
	original client.ObjectKey
}

// plan is what is wanted of a target, and of what, since Deciding was left for UpgradingStub. A process that has not made it
// makes another one, which counts as another attempt: it cannot tell what of the one before was sent.
type plan struct {
	UID, Wanted, Old, SecretVersion string
	// Counted says that it is among the attempts, Upgraded that a stub was written for it, and Sent that something of it was sent, whatever
	// was answered.
	Counted, Upgraded, Sent bool
	// Upgrade is the write of a stub that was sent last, until it is told of; nil for none.
	Upgrade *upgrade
	// Offered is the note that counts it, from when it was to be stored on, and Over the one in whose place.
	Offered, Over json.RawMessage
	// Unstored is why it was not stored when that was tried last, nil if it was not tried, or is by now.
	Unstored error
}

// KeyOf is the key of a target, such as machinesets.cluster.x-k8s.io/worker.
func KeyOf(kind golden.Kind, name string) machine.Key { return machine.Key(string(kind) + "/" + name) }
