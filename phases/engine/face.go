package engine

import (
	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// What callers hand over, and what they get.
type (
	Revision  = decide.Revision  // the full set of objects that one release content stands for
	Component = decide.Component // one installable part of it
	Key       = decide.Key       // names one object of a cluster
	Action    = decide.Action    // what was done with an object, or why nothing can be done
	Probe     = decide.Probe     // whether an object does what it is there for
	Answer    = decide.Answer    // what a probe says
	Conflict  = decide.Conflict  // a field that somebody else changes over and over

	RevisionError = decide.RevisionError // a revision that can never be applied as it stands
	ScopeError    = decide.ScopeError    // a namespace that a kind cannot have, or needs

	RevisionRef = inventory.RevisionRef // a revision that is to get an inventory
	Stray       = inventory.Stray       // an object with our marks that nobody lists
	Listed      = inventory.Listed      // what a stored inventory lists
	Place       = inventory.Place       // where inventories are kept
)

// KeyOf reads the key of an object.
var KeyOf = decide.KeyOf

// The marks on the objects of a cluster, and what manifests can ask for.
const (
	ManagedByLabel      = decide.ManagedByLabel
	RevisionAnnotation  = decide.RevisionAnnotation
	OwnerAnnotation     = decide.OwnerAnnotation
	AdoptAnnotation     = decide.AdoptAnnotation
	ImmutableAnnotation = decide.ImmutableAnnotation
	CompleteAnnotation  = decide.CompleteAnnotation
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
)

// The answers of probes.
const (
	AnswerUnknown = decide.AnswerUnknown
	AnswerFalse   = decide.AnswerFalse
	AnswerTrue    = decide.AnswerTrue
)
