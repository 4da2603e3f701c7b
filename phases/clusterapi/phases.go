// Package clusterapi does the looking and the doing of the machine clusterapi:
// it observes a cluster into facts and plans, applies, prunes and keeps
// revisions. It decides nothing; which phase runs when is in
// machine/clusterapi/table.go.
package clusterapi

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/history"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/recorder"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// The names of the objects that the machine reads and writes.
const (
	Singleton           = "cluster"
	ImagesConfigMap     = "capi-installer-images"
	ExceptionsConfigMap = "capi-installer-exceptions"
	ClusterOperatorName = "cluster-api"
)

// ReleaseAnnotation of the list of images names the release whose operator follows it, such as 4.22.6; without it, every one does.
const ReleaseAnnotation = "capi-operator.openshift.io/release-version"

// The parts of the machine that have conditions of their own: the first plans,
// the second applies, prunes and keeps.
const (
	RevisionController  = "RevisionController"
	InstallerController = "InstallerController"
)

// RetryAnnotation of the ClusterAPI asks for another attempt now, by any value that it did not have before.
const RetryAnnotation = "capi-operator.openshift.io/retry"

// The field managers of the installer that OpenShift ships: objects of the first are taken over in place, and so is
// what both tell of themselves.
const (
	installerManager = "capi-operator.openshift.io/InstallerController"
	revisionManager  = "capi-operator.openshift.io/RevisionController"
)

// Phases is what the machine's work is done with. It lives as long as the
// operator and is used by one pass at a time.
type Phases struct {
	// Client reads from the operator's caches and writes to the API server.
	Client client.Client
	Images images.Source
	Engine Engine
	// Release is the version that the operator was released with, such as 4.22.6.
	Release           string
	OperatorNamespace string
	CAPINamespace     string
	// Live reads from the API server itself, filled waits for the caches, and configMaps watches those in the operator's namespace.
	Live       client.Reader
	filled     func(ctx context.Context, kinds ...client.Object) error
	configMaps corev1client.ConfigMapInterface
	// Again asks for another pass, when something has arrived that no watch of the caller shows.
	Again func()
	Now   func() time.Time
	Log   logr.Logger
	// Acted is told of every change to a managed object, by its action; nil is allowed.
	Acted func(action string)

	// History is what is remembered of listed revisions; nil for nothing.
	History *history.Keeper
	// Contents is what provider images may contain, but for exceptions; nil for anything.
	Contents *policy.Policy

	// PullSecrets have the credentials for registries; of equally specific ones the first counts.
	PullSecrets []client.ObjectKey
	// credentials are for registries besides those; the operator has none.
	credentials []images.Document

	// name is the machine's, under which the store keeps what it remembers.
	name string
	// run keeps the engine's watches.
	run func(context.Context) error

	passing   sync.Mutex // held while looking, which begins before the first pass
	memory    memory
	diagnosis *diagnosis
	// recorder is the flight recorder.
	recorder recorder.Log
}

// memory is what one pass leaves for the next. All of it can be lost: a new
// process finds it again, except for what is said at a field.
type memory struct {
	// rendered is the rendering of the inputs, listed those of the listed revisions by their names and content, or why
	// their images do not render to that: neither ever changes.
	rendered rendered
	listed   map[string]listed
	// partial is the part of the current revision whose images are at hand.
	partial partial
	// unneeded are the listed images that bring nothing; nil until it was read what an earlier process knew.
	unneeded unneeded
	// torndown is what the last look at orphans found. Lost, they are looked at again.
	torndown torndown
	// data is what is told of objects that hold data, as last looked at. Lost, it is read from the stored detail.
	data data
	// apiUID is the ClusterAPI's, for Events; empty while there is none.
	apiUID types.UID
	// current is the name of the current revision as it was last seen in the status, kept the revision itself. Lost, a
	// current revision that was taken out of the status, or went with the ClusterAPI, is not kept until another is applied.
	// version is that of the ClusterAPI in which it was last looked for. Lost, there is nothing that a restored etcd contradicts.
	current operatorv1alpha1.RevisionName
	version string
	kept    *engine.Revision
	// strays are those that are told, and how often they changed.
	strays toldStrays
	// counted is the highest number, as the API server was asked for it last. Lost, it is asked for again.
	counted counted
	// former is what is known of former installers.
	former former
	// retried is the value of the annotation that asks for another attempt, as last seen. Starting is an attempt.
	retried *string
	// tried are those of the listed revisions that this process has applied or kept.
	tried map[*engine.Revision]bool
	// wrote is the ClusterAPI as this operator wrote it last: that may reach the cache late. A new process has a new cache.
	wrote   *operatorv1alpha1.ClusterAPI
	wroteAt time.Time
	// keeping is why the current revision could not be kept while a newer one was applied, nil if it could.
	keeping error
	// unmanaged are the definitions that are the administrator's, as last listed. Lost while there is no ClusterAPI, those of
	// the revision that is kept count alone.
	unmanaged []string
	// acts are what people asked for as last seen, and proved whether there is a policy that holds their names.
	acts   []guards.Act
	proved map[string]askedPolicy
	// takenUp is the text of the pin that was taken up, and tried what came of looking whether another one may be. Lost, the
	// history tells of the former, and the latter is looked for again.
	takenUp string
	// endedPin is the text of the pin that has ended last, or was taken back: what ended it may be undone, and it does not begin again.
	// Lost, it counts again only if the newest revision was listed for it, or within the time to take it up. endedPinBy says by what.
	endedPin, endedPinBy string
	triedPin             triedPin
	// endedConsent is the text of the consent to an uninstallation that has ended last, by whatever clock. Lost, the clock of then counts.
	endedConsent string
	// besidePin is what the list asked for when it was looked into beside a pin. Lost, that is done again.
	besidePin string
	// desired is the rendering of the desired revision, for the list of related objects.
	desired *engine.Revision
}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	world  world
	plan   plan
	proofs proofs
	// desired is the newest listed revision, current the one fully applied; nil where there is none, or
	// where it cannot be rendered, for which the errors say why.
	desired, current       *engine.Revision
	desiredErr, currentErr error
	// atHand is what can be kept of the current revision while not all of its images are at hand.
	atHand *engine.Revision
	// former says what of a former installer may still write, empty for nothing.
	former string
	// older are the numbers of the revisions before the desired one that are listed or have an inventory; olderSeen says
	// that the inventories were seen.
	older     []int64
	olderSeen bool
	// begun is the highest number that an inventory or an object has, if it is above that of the desired revision; else 0.
	begun int64
	// lookAgain is after how long the next pass is wanted; zero: only when something changes.
	lookAgain time.Duration
	// did says what was done, for people.
	did []string
	// handed are the deletions by a consent, as the history has them, that a teardown of this pass knows of.
	handed sync.Map
	// Display is what the pass has seen for people.
	Display guards.Display
}

// The kinds of writes that works and effects make, as their Docs name them and
// the generated page of the machine shows them.
const (
	WritesRevision    = "one more of ClusterAPI status.revisions, with status.desiredRevision"
	WritesObserved    = "ClusterAPI status.observedRevisionGeneration"
	WritesCurrent     = "ClusterAPI status.currentRevision"
	WritesTrimmed     = "fewer of ClusterAPI status.revisions"
	WritesObjects     = "objects of revisions, of which one that says on-immutable-change: recreate may be deleted and created again"
	WritesDeletions   = "deletions of objects"
	WritesInventories = "inventories of revisions"
)

// The works and effects, by the names that diagrams and logs show.
var (
	PlanRevision = machine.Action[*Pass]{
		Name: "PlanRevision", Run: work(releasing((*Pass).planRevision)), Writes: []string{WritesRevision, WritesTrimmed, WritesObserved, WritesObjects, WritesInventories, WritesCurrent},
		Doc: "lists a new revision if the content that the inputs render to differs from the desired one's, or a later one was begun and is not listed any more, and there is room; before it is listed its inventory is stored, which proves from then on that it is listed as this operator listed it. A desired revision that somebody else has listed is replaced so, and from a full list revisions that somebody else has listed are taken, except for the current one, once they have an inventory. If nothing is to be listed, it notes in status.observedRevisionGeneration that the newest spec was seen; if the list is full, it does neither. A revision that would uninstall everything, every workload of a component that stays, or a component that is missing while an image has no folder, it lists only by the administrator's consent to it by its name: that is judged by what the watches show, and again by the number that the API server tells of right before a revision is listed. Inputs that break a rule for images are held against the exceptions of the administrator, which are asked for again in a pass that comes 30 seconds later or more, and once more right before a revision is listed that they let through: if they differ then, the inputs are rendered again a second later, and nothing is listed. While none is listed there is none to go on with, and a consent that is missing is an error. It keeps the current revision, and writes it into the status again if somebody took it out, while it is applied as a whole.",
	}
	AwaitCRDs = machine.Action[*Pass]{
		Name: "AwaitCRDs", Run: work(releasing((*Pass).applyRevision)), Writes: []string{WritesObjects, WritesInventories, WritesCurrent},
		Doc: "applies what the desired revision requires of CustomResourceDefinitions that others install, keeps the waves of it that were entered before, and keeps the current revision as ApplyRevision does.",
	}
	ApplyRevision = machine.Action[*Pass]{
		Name: "ApplyRevision", Run: work(releasing((*Pass).applyRevision)), Writes: []string{WritesObjects, WritesInventories, WritesCurrent},
		Doc: "applies the desired revision as far as its gates allow, and keeps the current one except for what the desired one has taken over, writing it into the status again if somebody took it out, while it is applied as a whole. An object with a changed immutable field is deleted and created again, if its manifest says on-immutable-change: recreate. While no revision is current and there is no older one, what is absent is created without a trial.",
	}
	PruneOrphans = machine.Action[*Pass]{
		Name: "PruneOrphans", Run: work(releasing((*Pass).pruneOrphans)), Writes: []string{WritesDeletions, WritesObjects, WritesInventories},
		Doc: "gives an inventory to older revisions that are listed without one, and then deletes what only older revisions had, in reverse order of waves; CRDs that go with their instances by consent go first, while their controllers still run. What holds users' data is retained, unless it is empty or the administrator has consented to lose that very object with exactly what it holds: that is listed anew right before the deletion, by UID and resourceVersion, and another digest keeps it. An object that administrators manage from now on stays, without our marks; a CompatibilityRequirement named ccapio-*, which the former installer made for those who host clusters here, stays as it is. It keeps the desired revision, and deletes nothing before that is current. An API group that does not answer holds up the end: after five minutes without progress that is told as Degraded.",
	}
	KeepApplied = machine.Action[*Pass]{
		Name: "KeepApplied", Run: work(releasing((*Pass).keepApplied)), Writes: []string{WritesObjects, WritesInventories, WritesCurrent},
		Doc: "repairs drift and recreates what was deleted (of a revision that this release has listed also in a part of it, while not all images are at hand), looks whether retained objects may go, and says so if the inputs cannot be planned. While it cannot be told what the inputs render to, it writes status.currentRevision again if somebody took it out, while that revision is applied as a whole.",
	}
	KeepCurrent = machine.Action[*Pass]{
		Name: "KeepCurrent", Run: work(releasing((*Pass).keepCurrent)), Writes: []string{WritesObjects, WritesInventories, WritesCurrent},
		Doc: "keeps the current revision applied, if there is one (of a revision that this release has listed also a part of it, while not all images are at hand), and writes it into the status again if somebody took it out, while it is applied as a whole.",
	}
	WatchOnly = machine.Action[*Pass]{
		Name: "WatchOnly", Run: work((*Pass).watchOnly),
		Doc: "looks, and tells what differs and what is wanted by now. Images may be fetched and rendered meanwhile. No managed object, inventory or status of the ClusterAPI is written, nothing is deleted, and nothing is tried.",
	}
	RecordCurrent = machine.Action[*Pass]{
		Name: "RecordCurrent", Run: work((*Pass).recordCurrent), Writes: []string{WritesCurrent},
		Doc: "writes status.currentRevision.",
	}
	TrimRevisions = machine.Action[*Pass]{
		Name: "TrimRevisions", Run: work((*Pass).trimRevisions), Writes: []string{WritesTrimmed, WritesInventories},
		Doc: "takes the older revisions off status.revisions, once the history of revisions is written that holds those which this operator has listed, lists what was retained in the desired revision's inventory, and then deletes the older inventories.",
	}
)

// work turns a method of a pass into what the machine runs.
func work(do func(*Pass, context.Context) error) func(context.Context, *Pass) (machine.Result, error) {
	return func(ctx context.Context, p *Pass) (machine.Result, error) {
		p.did = nil
		err := do(p, ctx)
		return machine.Result{LookAgain: p.lookAgain, Did: strings.Join(p.did, "; ")}, err
	}
}

// lookAgainIn asks for the next pass after a while, at the latest; zero: at once.
func (p *Pass) lookAgainIn(wait time.Duration) {
	wait = max(wait, time.Nanosecond)
	if p.lookAgain == 0 || wait < p.lookAgain {
		p.lookAgain = wait
	}
}
