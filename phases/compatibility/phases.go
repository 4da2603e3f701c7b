// Package compatibility does the looking and the doing of the machine compatibility: it reads
// requirements, compares definitions and writes webhook configurations. It decides nothing; which
// phase runs when is in machine/compatibility/table.go.
package compatibility

import (
	"sync"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

// The names of what the machine reads and writes.
const (
	// Service is that of the checker, and the name of its Deployment and its PodDisruptionBudget.
	Service = "capstan-webhooks"
	// Second is the name of the checker's second Deployment, where a release brings a first one of one replica.
	Second          = "capstan-webhooks-2"
	ClusterOperator = "cluster-api"
	// Controller is the part that has a condition on the ClusterOperator.
	Controller = "CompatibilityController"
	// Manager owns the fields that are written here.
	Manager = "capstan-compatibility"
	// CheckerLabel, with value true, marks the webhook configurations that are written here, for people and for capstan disarm.
	CheckerLabel = "capstan.openshift.io/checker"
	// RequirementsConfiguration and CRDsConfiguration are the configurations that all requirements share.
	RequirementsConfiguration = "capstan-requirements"
	CRDsConfiguration         = "capstan-crds"
)

// Open is the state in which nothing is refused for a requirement. The checker reads it, too.
const Open machine.State = "Open"

// The types of the conditions in which the record of a requirement lies.
const (
	StateCondition  = "State"
	RecordCondition = "Record"
)

// Snapshot is a requirement after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Phases is what the machine's work is done with. It must not be copied.
type Phases struct {
	// Client reads from the operator's caches and writes to the API server, Live reads from that.
	Client client.Client
	Live   client.Reader
	// Namespace is that of the checker.
	Namespace string
	// URL is where the API server finds the checker instead of at its Service, CA whom it trusts there; empty on a cluster.
	URL string
	CA  []byte
	Now func() time.Time

	judged  judged
	probe   probe
	stays   stays
	sharing sharing
	fights  fights
}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	// Requirement is nil if there is none.
	Requirement *requirementsv1alpha1.CompatibilityRequirement
	// CRDName is that of the definition, empty while it is not known.
	CRDName string
	// checker is what arming depends on; staysIn is after how long who answers ends an outage, zero for nothing to wait for.
	checker checker
	staysIn time.Duration
	// configurations are those that the requirement wants, or has and does not want; known says that it can be told which is which.
	configurations []*configuration
	known          bool
	// unread is why the requirement or its definition could not be read.
	unread error
}

// judged remembers what came of reading requirements and definitions, which are too large to be kept. Lost, they are read
// again; what is remembered belongs to UIDs and generations, and nothing else is taken for it.
type judged struct {
	mu sync.Mutex
	by map[machine.Key]*judgement
	// reading lets one requirement be decoded at a time: each takes many times its size. It guards last.
	reading sync.Mutex
	// last is the requirement that was decoded last, nil if that is too large to be kept: a definition that changes often is compared
	// each time.
	last *lastNeed
}

// lastNeed is a requirement as it was decoded.
type lastNeed struct {
	of   version
	need *crdschema.Need
}

// keptNeed is how long a requirement's data may be to be kept, in bytes: in memory it takes up to ten times as much. Most of
// Cluster API's definitions are shorter.
const keptNeed = 512 << 10
