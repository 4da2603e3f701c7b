package engine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/act"
	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

type (
	// Revision is the full set of objects that one release content stands for.
	Revision = decide.Revision
	// Component is one installable part of a revision.
	Component = decide.Component
	// RevisionRef names a revision that is to get an inventory.
	RevisionRef = inventory.RevisionRef
	// Key names one object of a cluster.
	Key = decide.Key

	// Action is what was done with an object, or why nothing can be done.
	Action = decide.Action
	// Probe is whether an object does what it is there for.
	Probe = decide.Probe
	// Answer is what a probe says.
	Answer = decide.Answer
	// Conflict is about a field that somebody else changes over and over.
	Conflict = decide.Conflict
	// Stray is an object with our marks that nobody lists.
	Stray = inventory.Stray

	// Requirement is a CompatibilityRequirement of a revision that is about one CRD, as both were seen.
	Requirement = decide.Requirement

	// Report is where a revision stands.
	Report = report.Report
	// Wave is where one wave of a revision stands.
	Wave = report.Wave
	// Object is where one object of a revision stands.
	Object = report.Object
	// Left tells of an object that people ask to leave as it is.
	Left = report.Left
	// TeardownReport is where the removal of orphans stands.
	TeardownReport = report.TeardownReport
	// Orphan is one object that only older revisions have, and what became of it.
	Orphan = report.Orphan
	// Consent is what an administrator consented to lose.
	Consent = decide.Consent
	// Loss is what would be lost with an object.
	Loss = report.Loss
	// Contents are what an object holds.
	Contents = decide.Contents
	// Holding is each object that would go with one.
	Holding = decide.Holding
	// InHolding is one of them.
	InHolding = decide.Held
	// Orphans is what inventories say about older revisions.
	Orphans = report.Orphans
	// Inventories are the stored inventories.
	Inventories = report.Inventories
	// Proofs are what inventories say of how their revisions were listed.
	Proofs = report.Proofs
	// Proof is what one of them says.
	Proof = report.Proof
	// Held is what one of them lists.
	Held = report.Held
	// HeldObject is one object that an inventory lists.
	HeldObject = report.HeldObject

	// Forecast is what would come of a revision.
	Forecast = report.Forecast
	// ForeseenWave is what would come of one of its waves.
	ForeseenWave = report.ForeseenWave
	// Foreseen is what would come of one object.
	Foreseen = report.Foreseen
	// Outlook is what would become of an object.
	Outlook = report.Outlook
	// How is how that was found.
	How = report.How
	// Change is one field that would change.
	Change = decide.Change
	// ForeseeOptions are how a forecast is made.
	ForeseeOptions = act.ForeseeOptions
	// Request is what a dry run would ask for.
	Request = act.Request

	// ObjectError is what went wrong with one object.
	ObjectError = report.ObjectError
	// Reason is why the API server did not do what it was asked to, by who can change that.
	Reason = report.Reason
	// ImmutableError says that fields of an object can never change.
	ImmutableError = report.ImmutableError
	// NoKindError says that the API server does not serve a kind.
	NoKindError = report.NoKindError
	// UnexplainedError says that an object carries a number of which nobody knows a revision.
	UnexplainedError = report.UnexplainedError
	// RevisionError says why a revision can never be applied as it stands.
	RevisionError = decide.RevisionError
	// ScopeError says that a manifest has a namespace that its kind cannot have, or lacks one.
	ScopeError = decide.ScopeError

	// Place is where inventories are kept.
	Place = inventory.Place
	// Listed is what a stored inventory lists.
	Listed = inventory.Listed
)

// KeyOf reads the key of an object.
func KeyOf(obj *unstructured.Unstructured) Key { return decide.KeyOf(obj) }

// Told is an object without its status and what the API server and the engine say of it themselves.
func Told(obj *unstructured.Unstructured) *unstructured.Unstructured { return decide.Told(obj) }

// FaultOf says why a manifest can never be applied as it stands, and at which field; empty if it can.
func FaultOf(manifest *unstructured.Unstructured) (path, cause string) {
	fault := decide.FaultOf(manifest)
	return fault.Path, fault.Cause
}

// Faults are why a revision of these components can never be applied, whatever the cluster holds; none if it can.
func Faults(components []Component, unmanaged []string) []string {
	return decide.Faults(components, unmanaged)
}

// The marks on the objects of a cluster, and what manifests can ask for.
const (
	ManagedByLabel      = decide.ManagedByLabel
	RevisionAnnotation  = decide.RevisionAnnotation
	MaxNumber           = decide.MaxNumber
	OwnerAnnotation     = decide.OwnerAnnotation
	AdoptAnnotation     = decide.AdoptAnnotation
	ImmutableAnnotation = decide.ImmutableAnnotation
	CompleteAnnotation  = decide.CompleteAnnotation
	RequiredAnnotation  = decide.RequiredAnnotation
	InventoryLabel      = decide.InventoryLabel
)

// The actions of reports.
const (
	Created     = decide.Created
	Updated     = decide.Updated
	Recovered   = decide.Recovered
	Idle        = decide.Idle
	Progressed  = decide.Progressed
	Collision   = decide.Collision
	Refused     = decide.Refused
	Terminating = decide.Terminating
	Failed      = decide.Failed
	Pending     = decide.Pending
	Unknown     = decide.Unknown
	Contested   = decide.Contested
	Deleted     = decide.Deleted
	Absent      = decide.Absent
	HandedOver  = decide.HandedOver
	Foreign     = decide.Foreign
	Orphaned    = decide.Orphaned
	Retained    = decide.Retained
	LeftAlone   = decide.LeftAlone
)

// The outlooks of a forecast, and how they are found.
const (
	WouldCreate  = report.WouldCreate
	WouldChange  = report.WouldChange
	WouldMark    = report.WouldMark
	WouldReplace = report.WouldReplace
	WouldRemove  = report.WouldRemove
	WouldRetain  = report.WouldRetain
	WouldWait    = report.WouldWait
	WouldCollide = report.WouldCollide
	WouldRefuse  = report.WouldRefuse
	WouldDeny    = report.WouldDeny
	WouldLeave   = report.WouldLeave

	StuckNames        = report.StuckNames
	StuckRequirements = report.StuckRequirements
	StuckUnanswered   = report.StuckUnanswered
	StuckLeft         = report.StuckLeft

	Tried    = report.Tried
	Computed = report.Computed
	Later    = report.Later
	Unseen   = report.Unseen
)

// The reasons of an ObjectError.
const (
	ReasonInvalid   = report.ReasonInvalid
	ReasonImmutable = report.ReasonImmutable
	ReasonDenied    = report.ReasonDenied
	ReasonQuota     = report.ReasonQuota
	ReasonForbidden = report.ReasonForbidden
	ReasonMissing   = report.ReasonMissing
	ReasonBusy      = report.ReasonBusy
	ReasonConflict  = report.ReasonConflict
	ReasonOther     = report.ReasonOther
)

// The answers of probes.
const (
	AnswerUnknown = decide.AnswerUnknown
	AnswerFalse   = decide.AnswerFalse
	AnswerTrue    = decide.AnswerTrue
)
