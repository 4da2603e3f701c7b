// Package clusterapi does the looking and the doing of the machine clusterapi:
// it observes a cluster into facts and plans, applies, prunes and keeps
// revisions. It decides nothing; which phase runs when is in
// machine/clusterapi/table.go.
package clusterapi

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// The names of the objects that the machine reads and writes.
const (
	Singleton           = "cluster"
	ImagesConfigMap     = "capi-installer-images"
	ClusterOperatorName = "cluster-api"
	FieldManager        = "capstan-clusterapi"
)

// What an administrator says to the machine by annotations of the ClusterAPI.
const (
	// ConsentAnnotation lets retained objects be deleted with the data in them; its value is the content ID of the
	// revision that is installed, and it counts for that one only.
	ConsentAnnotation = "capi-operator.openshift.io/consent-to-delete"
	// RetryAnnotation asks for another attempt now, by any value that it did not have before.
	RetryAnnotation = "capi-operator.openshift.io/retry"
)

// installerManager is the field manager of the installer that OpenShift ships, whose objects are taken over in place.
const installerManager = "capi-operator.openshift.io/InstallerController"

// Phases is what the machine's work is done with. It lives as long as the
// operator and is used by one pass at a time.
type Phases struct {
	// Client reads from the operator's caches and writes to the API server.
	Client client.Client
	Images images.Source
	Engine *engine.Engine
	// Release is the version that the operator was released with, such as 4.22.6.
	Release           string
	OperatorNamespace string
	CAPINamespace     string
	// Live reads from the API server itself.
	Live client.Reader
	// Again asks for another pass after a while; at once for zero.
	Again func(after time.Duration)
	Now   func() time.Time
	Log   logr.Logger
	// Acted is told of every change to a managed object, by its action; nil is allowed.
	Acted func(action string)

	// PullSecrets have the credentials for registries; of equally specific ones the first counts.
	PullSecrets []client.ObjectKey

	passing  sync.Mutex // held while looking, which begins before the first pass
	rendered rendered
	listed   map[string]*engine.Revision
	pruned   pruned
	late     *lateness
	recorder recorder.Log
	// apiUID is the ClusterAPI's, for Events; empty while there is none.
	apiUID types.UID
	// current is the name of the current revision as it was last seen in the status.
	current operatorv1alpha1.RevisionName
	// heeded is the value of the annotation that asks for another attempt, as last seen.
	heeded *string
	// tried are those of the listed revisions that this process has applied or kept.
	tried map[*engine.Revision]bool
	// wrote is the ClusterAPI as this operator wrote it last: that may reach the cache late.
	wrote *operatorv1alpha1.ClusterAPI
	// newest is the rendering of the newest listed revision, for the list of related objects.
	newest *engine.Revision
}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	world world
	plan  plan
	// latest and current are the newest listed revision and the one fully applied; nil where there is none, or
	// where it cannot be rendered, for which the errors say why.
	latest, current       *engine.Revision
	latestErr, currentErr error
	// olderLeft counts the revisions before the latest of which something may be left; olderSeen says that none is missed.
	olderLeft int
	olderSeen bool
	// result is what the work of the pass says of itself.
	result machine.Result
}

// The works and effects, by the names that diagrams and logs show.
var (
	PlanRevision = machine.Action[*Pass]{
		Name: "PlanRevision", Run: work((*Pass).planRevision),
		Doc: "fetches and renders the provider images and lists a new revision if the content differs and there is room.",
	}
	ApplyRevision = machine.Action[*Pass]{
		Name: "ApplyRevision", Run: work((*Pass).applyRevision),
		Doc: "applies the newest revision as far as its gates allow, and keeps the current one.",
	}
	PruneOrphans = machine.Action[*Pass]{
		Name: "PruneOrphans", Run: work((*Pass).pruneOrphans),
		Doc: "deletes what only older revisions had, in reverse order of waves, and keeps the newest one.",
	}
	KeepApplied = machine.Action[*Pass]{
		Name: "KeepApplied", Run: work((*Pass).keepApplied),
		Doc: "repairs drift and recreates what was deleted, puts the list of revisions in order, and says so if the next revision cannot be planned.",
	}
	KeepCurrent = machine.Action[*Pass]{
		Name: "KeepCurrent", Run: work((*Pass).keepCurrent),
		Doc: "keeps the current revision applied, if there is one.",
	}
	RetryWork = machine.Action[*Pass]{
		Name: "RetryWork", Run: work((*Pass).retryWork),
		Doc: "tries again what failed, and keeps the current revision applied.",
	}
	RecordCurrent = machine.Action[*Pass]{
		Name: "RecordCurrent", Run: work((*Pass).recordCurrent),
		Doc: "writes status.currentRevision.",
	}
	TrimRevisions = machine.Action[*Pass]{
		Name: "TrimRevisions", Run: work((*Pass).trimRevisions),
		Doc: "removes the older revisions from the list, and their inventories.",
	}
)

// work turns a method of a pass into what the machine runs.
func work(do func(*Pass, context.Context) error) func(context.Context, *Pass) (machine.Result, error) {
	return func(ctx context.Context, p *Pass) (machine.Result, error) {
		err := do(p, ctx)
		return p.result, err
	}
}
