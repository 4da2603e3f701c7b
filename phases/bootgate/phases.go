// Package bootgate does the looking and the doing of the machine bootgate. It decides nothing; which
// phase runs when is in machine/bootgate/table.go. What the configuration resolves to, and how old the
// boot images may be, is pure.
package bootgate

import (
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/status"
)

// The names of what the machine reports on, and of the part that has conditions of its own.
const (
	ClusterOperator = "cluster-api"
	Controller      = "BootImagesController"
	// Configuration is the name of the MachineConfiguration, and that of the Infrastructure.
	Configuration = "cluster"
	// FieldManager owns what is written into the status of the MachineConfiguration.
	FieldManager = "capstan-bootgate"
)

// The names of what else is looked at.
const (
	Version          = "version"
	GoldenNamespace  = "openshift-machine-config-operator"
	GoldenConfigMap  = "coreos-bootimages"
	KnownConfigMap   = "capstan-known-images"
	TrustedConfigMap = "boot-images-trusted"
)

// Condition is one that people are told, on the ClusterOperator or on the MachineConfiguration.
type Condition = status.Condition

// Line says in one line where the gate is.
func Line(r machine.Record) string { return status.Line(r) }

// Snapshot is the gate after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Options bind the gate to a cluster.
type Options struct {
	// Client reads what the manager's caches hold, and writes.
	Client client.Client
	// Apart reads the golden ConfigMap, the trusted images, and metadata of templates and of infrastructure machines from
	// caches; Known the images that were golden. Live and Untyped read from the API server itself, kinds that have a type here
	// and those of Cluster API.
	Apart, Known, Live, Untyped client.Reader
	// Deletes deletes templates.
	Deletes client.Writer
	Board   *bootboard.Board
	// Blind is why what Apart and Known read is not all there is yet, as where a right lacks; empty if it is. Nil for never.
	Blind func() string
	// Event is given each Event that is to be written.
	Event func(events.Event)
	Now   func() time.Time
	// Steady is a time that is never set back.
	Steady func() time.Time

	OperatorNamespace, CAPINamespace string
	// MachineAPI and ClusterAPI say which APIs' boot images this operator moves.
	MachineAPI, ClusterAPI bool
	GCPProject             string
	Limits                 Limits
	// Settings are published for who looks from outside.
	Settings Settings
	// RollsOutBefore is the first release whose ControlPlaneMachineSet leaves machines alone that differ in the boot image only.
	RollsOutBefore *version.Version
}

// Settings are the flags by which an operator judges boot images, in their spelling.
type Settings struct {
	APIs           []string `json:"apis"`
	GCPProject     string   `json:"gcpProject"`
	Stream         string   `json:"stream"`
	Limits         string   `json:"limits"`
	RollsOutBefore string   `json:"rollsOutBefore"`
}

// Phases is what the machine's work is done with. It is used by one pass at a time.
type Phases struct {
	Options
	memory memory
}

// New makes phases; it sends nothing.
func New(o Options) *Phases { return &Phases{Options: o} }

// Pass is what one pass has seen, for the work of the same pass and for what people are told.
type Pass struct {
	*Phases
	// Facts are those of the pass.
	Facts guards.Facts
	// Ours says that the boot images of the Machine API are this operator's to manage.
	Ours bool
	// Enforced is how the age of the boot images is watched, Upgradeable what follows from that, nil as long as nobody can tell.
	Enforced    operatorv1.BootImageSkewEnforcementStatus
	Upgradeable *Upgradeable
	// Targets are the sums of all targets.
	Targets Sums

	world world
	// claimedBy is the field manager of somebody else who claims what is written of the Machine API.
	claimedBy string
	resolved  operatorv1.ManagedBootImages
	golden    *golden.Golden
	standings []bootboard.Standing
	// judged is the verdict by which the sums of targets are counted.
	judged bootboard.Verdict
}

// Golden are the golden boot images, whatever else is asked of them; nil if they cannot be read.
func (p *Pass) Golden() *golden.Golden { return p.golden }

// memory is what the process remembers. Lost, it is read again, or made again at the price of a request.
type memory struct {
	// began is when the first pass was made; sure says that all targets have been judged, or have had the time to.
	began time.Time
	sure  bool
	// golden is what was read last from the golden ConfigMap, and images from the lists of known and of trusted ones.
	golden goldenRead
	images map[string]imagesRead
	// known and config are as they were written last; kept is what was in the list of known images when it was last seen.
	known  written[*corev1.ConfigMap]
	kept   map[string]string
	config written[*operatorv1.MachineConfiguration]
	// judged is what was said last of the cluster's being upgradeable, in the mode Automatic.
	judged *Upgradeable
	// keeps and told are when what the MachineConfiguration resolves to, and its conditions, may be written next.
	keeps, told pace
	// seen are the clones as they were seen, and since when.
	seen map[string]sighting
	// inUse are clones that the API server knew a user of, and when that was; foreign are templates that only look like clones.
	inUse   map[string]time.Time
	foreign map[string]edition
}

// Unwatched counts 1 where nobody watches how old the boot images are.
func (p *Pass) Unwatched() int {
	return count(p.Ours && p.Enforced.Mode == operatorv1.BootImageSkewEnforcementModeStatusNone)
}

// Shut counts 1 where the gate is not open although the release is complete.
func (p *Pass) Shut() int { return count(guards.ShutAfterRelease(p.Facts)) }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
