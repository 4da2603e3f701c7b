package clusterapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/history"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/recorder"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// Options is what New binds the phases to.
type Options struct {
	// Client reads from caches, Live from the API server itself; HTTP is the connection they share. Filled waits until the caches have
	// been filled with objects of the kinds of these.
	Client client.Client
	Live   client.Reader
	Filled func(ctx context.Context, kinds ...client.Object) error
	REST   *rest.Config
	HTTP   *http.Client

	Release, OperatorNamespace, CAPINamespace string
	// CacheDir, InsecureRegistries, InsecureCredentials and ExtraCAFile say where provider images come from; see package images.
	// ProviderImageDir is the folder below which the operator's own Pod, PodName, mounts some; both empty for none.
	CacheDir            string
	InsecureRegistries  []string
	InsecureCredentials bool
	ProviderImageDir    string
	PodName             string
	ExtraCAFile         string
	PullSecrets         []client.ObjectKey
	Concurrency         int

	// Again asks for another pass, when something has arrived that no watch of the caller shows.
	Again func()
	// Acted is told of every change to a managed object, by its action; nil is allowed.
	Acted func(action string)
	// Recorder keeps what was done to objects.
	Recorder recorder.Log
	Clock    clock.WithTicker
	Log      logr.Logger
}

// What the engine is known by on clusters: installations of earlier versions have it too.
const (
	owner           = "ClusterAPI/" + Singleton
	fieldManager    = "capstan"
	inventoryPrefix = "capstan-inventory-"
)

// Inventories is where the inventories of revisions are kept.
func Inventories(namespace string) engine.Place {
	return engine.Place{Namespace: namespace, Prefix: inventoryPrefix, Owner: owner}
}

// New binds the phases to a cluster and to the provider images. Nothing is
// sent before WarmUp and Background are run.
func New(o Options) (*Phases, error) {
	applier, err := engine.New(engine.Config{
		REST: o.REST, Namespace: o.OperatorNamespace, Namespaces: []string{o.CAPINamespace}, MayHave: mayBring,
		Owner: owner, FieldManager: fieldManager, InventoryPrefix: inventoryPrefix,
		Concurrency: o.Concurrency, LegacyManagers: []string{installerManager}, Spares: madeForOthers, Meets: Met, Notify: o.Again, Clock: o.Clock, Log: o.Log.WithName("engine"),
	})
	if err != nil {
		return nil, err
	}
	looksAtPods, err := newDiagnosis(o.REST, o.HTTP)
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfigAndClient(o.REST, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("making the client of the history: %w", err)
	}
	providerImages, err := source(o, o.Again, applier.CheckNotFound)
	if err != nil {
		return nil, err
	}
	return &Phases{
		diagnosis: looksAtPods, Acted: o.Acted, recorder: o.Recorder,
		History: history.New(o.Live, o.Client, o.OperatorNamespace, o.Again, o.Clock, o.Log.WithName("history")),
		Client:  o.Client, Live: o.Live, filled: o.Filled, configMaps: core.ConfigMaps(o.OperatorNamespace),
		Images: providerImages, PullSecrets: o.PullSecrets, Engine: applier, run: applier.Run, Again: o.Again, Log: o.Log,
		Release: o.Release, OperatorNamespace: o.OperatorNamespace, CAPINamespace: o.CAPINamespace,
		Contents: &policy.Policy{Namespaces: []string{o.CAPINamespace}},
		// What is stored as JSON must compare equal to what is read back.
		Now: func() time.Time { return o.Clock.Now().UTC().Truncate(time.Millisecond) },
	}, nil
}

// NewEngineOfViewer is an engine that tells a viewer what objects hold, with the viewer's rights. It does not run, and is asked
// nothing that writes.
func NewEngineOfViewer(config *rest.Config, namespace string) (*engine.Engine, error) {
	return engine.New(engine.Config{REST: config, Namespace: namespace, Owner: owner, FieldManager: fieldManager, InventoryPrefix: inventoryPrefix, ForViewer: true})
}

func source(o Options, changed func(), checkNotFound check) (images.Source, error) {
	mounted, err := imageVolumes(o)
	if err != nil {
		return nil, err
	}
	networks, err := clusterNetworks(o.REST, o.HTTP, checkNotFound)
	if err != nil {
		return nil, err
	}
	return images.NewPuller(images.Options{
		CacheDir: o.CacheDir, InsecureRegistries: o.InsecureRegistries, InsecureCredentials: o.InsecureCredentials, ExtraCAFile: o.ExtraCAFile,
		Mounted: mounted, Networks: networks, Notify: changed, Clock: o.Clock, Log: o.Log.WithName("images"),
	}), nil
}

// Background is what has to run beside the passes until the context ends.
func (p *Phases) Background() []func(context.Context) error {
	return []func(context.Context) error{p.Images.Start, p.diagnose, p.History.Run, p.watchHistory}
}
