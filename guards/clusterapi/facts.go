// Package clusterapi holds the facts about a cluster that the machine
// clusterapi decides on, and the questions it asks of them. Nothing here
// looks, waits or remembers: facts come in, answers go out.
package clusterapi

import (
	"github.com/capstan-capi/capstan/machine"
)

// MaxRevisions is how many revisions ClusterAPI.status can list; the CRD of
// clusterapis.operator.openshift.io refuses more.
const MaxRevisions = 16

// Facts is what guards ask of one look at the cluster. On zero facts nothing was
// looked at, and every guard that asks about the cluster answers Unknown.
type Facts struct {
	// Seen says that the inputs and ClusterAPI.status were looked at.
	Seen bool `yaml:"seen"`
	// ClusterAPI says that the ClusterAPI object named cluster exists; SpecObserved that status.observedRevisionGeneration
	// is not behind the generation of its spec.
	ClusterAPI   bool `yaml:"clusterAPI"`
	SpecObserved bool `yaml:"specObserved"`
	// FormerInstaller says what of the installer that OpenShift shipped before may still write; empty for nothing.
	FormerInstaller string `yaml:"formerInstaller"`
	// ListRelease is the release that the list of images is for, if that is another one than this operator's; else empty.
	ListRelease string `yaml:"listRelease"`
	// Platform is Infrastructure cluster's status.platformStatus.type; empty while there is none.
	Platform string `yaml:"platform"`
	// Planned is the content ID that the inputs render to; empty while that cannot be told, and Planning says why;
	// Unplannable says that it is an error, and nothing that is on its way; PlanTerminal that only another input heals it.
	Planned      string `yaml:"planned"`
	Planning     string `yaml:"planning"`
	Unplannable  bool   `yaml:"unplannable"`
	PlanTerminal bool   `yaml:"planTerminal"`
	// AwaitsUninstallConsent says what the planned content would uninstall, and what to do if that is not meant; empty if it
	// would uninstall nothing that has to be consented to, or there is the consent.
	AwaitsUninstallConsent string `yaml:"awaitsUninstallConsent"`
	// UninstallConsent tells of the act by which somebody has consented to that; empty for none that counts.
	UninstallConsent string `yaml:"uninstallConsent"`
	// Images counts the provider images that are at hand.
	Images int `yaml:"images"`
	// Desired is the content ID of the desired revision, which is the newest listed one; DesiredNumber is its number, and
	// CurrentNumber that of status.currentRevision; zero for none.
	Desired       string `yaml:"desired"`
	DesiredNumber int64  `yaml:"desiredNumber"`
	CurrentNumber int64  `yaml:"currentNumber"`
	// DesiredForeign says why the desired revision is not this operator's; empty if it is, or as long as nobody knows.
	DesiredForeign string `yaml:"desiredForeign"`
	// Begun is the highest number that an inventory has, or an object of the desired revision that no inventory explains, if
	// it is above that of the desired revision: a revision was begun that is not listed any more. 0 for none.
	Begun int64 `yaml:"begun"`
	// GivingWay counts the listed revisions that are not this operator's and not current: they leave a full list.
	GivingWay int `yaml:"givingWay"`
	// Listed counts the revisions in status; Abandoned names those between the current and the desired one, which were
	// given up before they were fully applied.
	Listed    int      `yaml:"listed"`
	Abandoned []string `yaml:"abandoned"`
	// Older counts the revisions before the desired one that are listed or still have an inventory; OlderSeen says that the
	// inventories were seen, without which Older may be too low.
	Older     int  `yaml:"older"`
	OlderSeen bool `yaml:"olderSeen"`
	// Applied tells how the desired revision stands, Orphans what only older revisions had, Retained what of that was
	// kept for users' data and may go now.
	Applied  Applied  `yaml:"applied"`
	Orphans  Orphans  `yaml:"orphans"`
	Retained Retained `yaml:"retained"`
	// Unmanaged names the CustomResourceDefinitions that the desired revision has and leaves to others; Requirements are what
	// was seen of what it requires of their shapes, ObjectRequirements of their objects, as far as RequirementsKnown.
	Unmanaged          []string      `yaml:"unmanaged"`
	RequirementsKnown  bool          `yaml:"requirementsKnown"`
	Requirements       []Requirement `yaml:"requirements"`
	ObjectRequirements []Requirement `yaml:"objectRequirements"`
	// Pause says whether the administrator has paused the machine.
	Pause Pause `yaml:"pause"`
	// Pin tells of the act by which the images of a revision take the place of the list, empty for none; PinDiffers says that the
	// list asks for others.
	Pin        string `yaml:"pin"`
	PinDiffers bool   `yaml:"pinDiffers"`
	// Inputs is a fingerprint of all that people can change; empty while it cannot be told.
	Inputs string `yaml:"inputs"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// Applied tells how far a revision is applied. Known is false until enough was seen.
type Applied struct {
	Known    bool `yaml:"known"`
	Complete bool `yaml:"complete"`
	// Done of Total objects are as they should be.
	Done  int `yaml:"done"`
	Total int `yaml:"total"`
	// Why names what is missing, or what has not been seen.
	Why string `yaml:"why"`
}

// Retained tells which of the objects that were kept for users' data may be
// deleted now: they are empty, or the administrator consented. Known is false
// until they were looked at.
type Retained struct {
	Known bool     `yaml:"known"`
	MayGo []string `yaml:"mayGo"`
}

// Orphans tells how many objects are left that only older revisions had, and how
// many have gone since pruning began, 0 when it is done. Objects that are
// retained for their users' data do not count.
type Orphans struct {
	Known bool   `yaml:"known"`
	Left  int    `yaml:"left"`
	Gone  int    `yaml:"gone"`
	Why   string `yaml:"why"`
}

// Then is how things stood when the present state was entered: by which event,
// with which inputs, and how much was done; Resumed is what the moves of the
// state that it came from answer now.
type Then struct {
	Event   machine.Event
	Resumed machine.Resumed
	Inputs  string
	Done    int
	Failing bool
}

// Progress counts steps done over the whole path from image to installed.
func Progress(f Facts) (done int, known bool) {
	return f.Images + f.Applied.Done + f.Orphans.Gone, f.Applied.Known || f.DesiredNumber == 0
}

// Inputs is the fingerprint whose change is a reason to try again.
func Inputs(f Facts) string { return f.Inputs }

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record, resumed machine.Resumed) {
	f.Then = Then{Event: r.LastEvent, Resumed: resumed, Inputs: r.Entry.Inputs, Done: r.Entry.Done, Failing: r.Failure != nil}
}
