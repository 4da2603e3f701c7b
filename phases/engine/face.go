package engine

import (
	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
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
