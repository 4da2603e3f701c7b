package report

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Outlook is what would become of an object.
type Outlook string

// The outlooks of a forecast.
const (
	WouldCreate  Outlook = "create"  // is not there, and would be
	WouldChange  Outlook = "change"  // fields of it would change
	WouldMark    Outlook = "mark"    // nothing of it would change but its number, or whose it is
	WouldReplace Outlook = "replace" // would be deleted and created again
	WouldRemove  Outlook = "remove"  // would be deleted
	WouldRetain  Outlook = "retain"  // would stay, because of what it holds
	WouldWait    Outlook = "wait"    // is being deleted, and is waited for
	WouldCollide Outlook = "collide" // is somebody else's
	WouldRefuse  Outlook = "refuse"  // the engine itself would not do it
	WouldDeny    Outlook = "deny"    // the API server, a webhook or a policy would not let it
	WouldLeave   Outlook = "leave"   // stays as it is
)

// How is how an outlook was found.
type How string

// How outlooks are found.
const (
	Tried    How = "tried"    // by a dry run
	Computed How = "computed" // by what is there, without one
	Later    How = "later"    // what a dry run takes is not there yet
	Unseen   How = "unseen"   // what there is may not be read
)

// The kinds of what keeps the next wave from beginning.
const (
	StuckNames        = "names"        // a definition's are taken
	StuckRequirements = "requirements" // a definition of others is not as needed
	StuckUnanswered   = "unanswered"   // a dry run was not answered
	StuckLeft         = "left alone"   // people ask to leave it as it is, and it is not as wanted
)

// Foreseen is what would become of one object.
type Foreseen struct {
	Key       decide.Key
	Resource  schema.GroupVersionResource // of version and resource nothing is known while the kind is not served
	Component string
	Outlook   Outlook
	How       How
	Why       string
	Err       error // of an outlook that was refused
	// Stuck says why the next wave would not begin although the object is as wanted, as far as that is known, or why nobody knows,
	// and StuckBy is the kind of that.
	Stuck, StuckBy string
	Changes        []decide.Change
	LeftAlone      bool   // people ask to leave it as it is
	Holds          string // the data that goes, or stays, with it
	// UID and Created are those of an object that only older revisions have, as far as it was seen.
	UID     types.UID
	Created time.Time
	// Before and After are the object as it is and as it would be; nil where it is not there, or nobody can tell.
	Before, After *unstructured.Unstructured
}

// ForeseenWave is what would become of the objects of a wave.
type ForeseenWave struct {
	Number    int // counts from 1
	Component string
	Class     string
	Objects   []*Foreseen
}

// Forecast is what would come of a revision if it were applied now, and of what only older revisions have.
type Forecast struct {
	Waves    []ForeseenWave
	Removals []*Foreseen // in the order of their removal
	// Definitions are the CustomResourceDefinitions that the revision leaves to others, by name, as far as they may be read; nil
	// where there is none.
	Definitions map[string]*unstructured.Unstructured
	// Unseen says what could not be looked at as a whole, as one line each.
	Unseen []string
}
