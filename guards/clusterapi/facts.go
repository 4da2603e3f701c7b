// Package clusterapi holds the facts about a cluster that the machine
// clusterapi decides on, and the questions it asks of them. Nothing here
// looks, waits or remembers: facts come in, answers go out.
package clusterapi

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// MaxRevisions is how many revisions ClusterAPI.status can list; the CRD of
// clusterapis.operator.openshift.io refuses more.
const MaxRevisions = 16

// Facts is what one look at the cluster has shown. Zero values mean "not seen".
type Facts struct {
	// ClusterAPI says that the ClusterAPI object named cluster exists.
	ClusterAPI bool `yaml:"clusterAPI"`
	// Platform is Infrastructure cluster's status.platformStatus.type; empty while there is none.
	Platform string `yaml:"platform"`
	// Wanted is the content ID that the inputs render to; empty while that cannot be told, and Planning says why.
	Wanted   string `yaml:"wanted"`
	Planning string `yaml:"planning"`
	// PlanFailed says that Planning is an error, not a wait; PlanTerminal that only a changed input heals it.
	PlanFailed  bool `yaml:"planFailed"`
	PlanTerminal bool `yaml:"planTerminal"`
	// Images counts the provider images that are at hand.
	Images int `yaml:"images"`
	// ImageStates tell how every image stands that is wanted, in the order of references; ImageWarning says what
	// works worse than it should without failing.
	ImageStates  []ImageState `yaml:"-"`
	ImageWarning string       `yaml:"-"`
	// Latest and Current are the content IDs of the newest listed revision and of the one fully applied;
	// LatestNumber and CurrentNumber are their revision numbers, zero for none.
	Latest        string `yaml:"latest"`
	Current       string `yaml:"current"`
	LatestName    string `yaml:"latestName"`
	LatestNumber  int64  `yaml:"latestNumber"`
	CurrentNumber int64  `yaml:"currentNumber"`
	// Listed counts the revisions in status; Older those before the latest that are listed or still have an inventory.
	Listed int `yaml:"listed"`
	Older  int `yaml:"older"`
	// OlderSeen says that the inventories were seen, without which Older may be too low.
	OlderSeen bool `yaml:"olderSeen"`
	// Applied tells how the latest revision stands, Orphans what only older revisions had.
	Applied Applied `yaml:"applied"`
	Orphans Orphans `yaml:"orphans"`
	// Attempted says that this process has tried to apply the newest revision, without which collisions, refusals and
	// contests may be missed.
	Attempted bool `yaml:"-"`
	// Retained are the objects kept for their users' data; Strays are objects with this installation's marks that no
	// revision and no inventory knows. Neither holds anything up.
	Retained []Retained `yaml:"retained"`
	Strays   []string   `yaml:"strays"`
	// Revisions tell how far the listed revisions are, the oldest first. They are for people.
	Revisions []Revision `yaml:"-"`
	// Waiting counts the objects that are being deleted and have finalizers pending.
	Waiting int `yaml:"-"`
	// Inputs is a fingerprint of all that people can change; empty while it cannot be told.
	Inputs string `yaml:"inputs"`
	// Consent is the content ID for which the administrator lets retained objects be deleted; it counts for that of
	// the newest revision only.
	Consent string `yaml:"-"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// ImageState is how one provider image stands: at hand, failed, being fetched
// or waiting for its turn.
type ImageState struct {
	// Name is enough of the reference to tell images apart; Component is what it brings, as far as a listed revision
	// says so.
	Name      string
	Reference string
	Component string
	Ready     bool
	Fetching  bool
	// Failure is the kind of the last failure, empty for none. It stays while the next attempt runs.
	Failure string
	// Message is the last failure's own words.
	Message string
	// Since is when fetching began, NextTry when a failed image is tried again: the zero time for never by itself.
	Since, NextTry time.Time
}

// Applied tells how far a revision is applied. Known is false until enough was seen.
type Applied struct {
	Known    bool `yaml:"known"`
	Complete bool `yaml:"complete"`
	// Done of Total objects are as they should be.
	Done  int `yaml:"done"`
	Total int `yaml:"total"`
	// Collisions are objects that exist already and belong to somebody else; Refused are updates that are not sent
	// because they would lose data. Both hold the revision up until somebody gives way. The current revision's are
	// among them as long as it is kept.
	Collisions []Collision `yaml:"collisions"`
	Refused    []Refused   `yaml:"refused"`
	// Contested are applied objects of which somebody else keeps changing a field back.
	Contested []Contested `yaml:"contested"`
	// Why names what is missing, or what has not been seen.
	Why string `yaml:"why"`
}

// Orphans tells how many objects are left that only older revisions had.
// Objects that are retained for their users' data do not count.
type Orphans struct {
	Known bool   `yaml:"known"`
	Left  int    `yaml:"left"`
	Why   string `yaml:"why"`
}

// Then is how things stood when the present state was entered.
type Then struct {
	Event   machine.Event
	Inputs  string
	Done    int
	Failing bool
}

// Progress counts steps done over the whole path from image to installed.
func Progress(f Facts) (done int, known bool) {
	return f.Images + f.Applied.Done - f.Orphans.Left, f.Applied.Known || f.LatestNumber == 0
}

// Inputs is the fingerprint whose change is a reason to try again.
func Inputs(f Facts) string { return f.Inputs }

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record) {
	f.Then = Then{Event: r.LastEvent, Inputs: r.Entry.Inputs, Done: r.Entry.Done, Failing: r.Failure != nil}
}
