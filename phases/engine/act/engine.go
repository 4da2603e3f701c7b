package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

const defaultConcurrency = 8

// Config is what an engine works with. REST, Namespace, Owner, FieldManager and InventoryPrefix are required.
type Config struct {
	REST      *rest.Config // its user agent and limits are the caller's
	Namespace string       // of the inventories
	// Namespaces are those of revisions in which no tenant can write: what field managers say of an object is believed
	// there, in the namespace of the inventories and of objects of the cluster. Objects that no inventory lists are looked
	// for there alone, or if there is none in the namespace of the inventories, besides where revisions have objects.
	Namespaces []string
	// MayHave says that revisions may have objects of a kind; nil: of all. No other kind is looked through for objects that
	// no inventory lists.
	MayHave func(schema.GroupKind) bool
	// Who this installation is. Two engines never meet, in one namespace or in one cluster, if these differ.
	Owner           string // identity, written on every object
	FieldManager    string // owns the fields that are applied
	InventoryPrefix string // of the names of the inventories, before the revision's number
	Label           string // value of the label on every object and inventory; empty: objects have their component's name
	// LegacyManagers are field managers whose fields count as our own, on objects of this installation and on adopted
	// ones: what they set and no manifest has is removed.
	LegacyManagers []string
	// Spares are objects that a former installer made for others: they stay as they are unless a revision has them, and
	// are neither adopted nor told as strays.
	Spares func(decide.Key) bool
	// Meets says whether a requirement that is about a CRD is met, in the revision that is installed or in another one. It
	// is the gate of the requirement's wave, and asks nobody. Nil: nothing is waited for.
	Meets func(r decide.Requirement, installed bool) decide.Probe

	// ForViewer says that it only looks, with the rights of whoever reads what it says.
	ForViewer bool

	Concurrency int    // writes at the same time, 8 if not set
	Notify      func() // something that matters changed: look again. It must not block
	Clock       clock.Clock
	Log         logr.Logger
}

// Engine applies revisions to one cluster. Its methods may be called from several goroutines.
type Engine struct {
	cfg        Config
	us         decide.Identity
	dynamic    dynamic.Interface
	throttle   *throttle.Throttle // the transport of all of them, with credentials and user agent
	kicked     chan struct{}
	crdChanged chan struct{} // of capacity one: a CRD that may bring a missing kind was seen to change

	cluster *see.Cluster // its lock guards the fields that follow

	kinds            see.Kinds
	watches          map[place]*see.Watch
	inventories      *see.Watch
	shelf            inventory.Shelf
	leftOut          bool                         // inventories list objects in more places than are watched
	inventoryChanges int                          // grows when an inventory changes
	strays           *strays                      // of the last time that somebody asked
	swept            *swept                       // what the last look through all kinds found that nobody lists
	crdChangedAt     map[string]time.Time         // when managed CRDs were last seen to change, by name
	crdWatch         *see.Watch                   // the names of all CRDs, nil while no kind is missing
	foreignWatches   map[decide.Key]*foreignWatch // objects without our label that are in the way, by identity
	retainedWatches  map[decide.Key]*see.Watch    // of retained CRDs, by the key of the CRD
	unmanagedWatches map[string]*see.Watch        // of the CRDs that revisions leave to others, by name
	noted            Noted
	endpointWatches  map[string]*endpointWatch // of the Services of webhooks, by namespace
	plans            map[*decide.Revision]*plan
	listedNumbers    []int64 // of the listed revisions, as the last one to ask for proofs said; nil while nobody has
	hadPlans         bool    // there was a plan
	planChanges      int     // grows when the plans change
	listed           listedObjects
	listChecked      listChanges      // what the watches' contents were last compared with
	desired          *decide.Revision // the newest of those with a plan

	conflicts *conflicts
}

// New makes an engine; nothing is sent before Run.
func New(cfg Config) (*Engine, error) {
	if cfg.REST == nil || cfg.Namespace == "" || cfg.Owner == "" || cfg.FieldManager == "" || cfg.InventoryPrefix == "" {
		return nil, errors.New("making an engine: REST, Namespace, Owner, FieldManager and InventoryPrefix are required")
	}
	if cfg.Concurrency < 1 {
		cfg.Concurrency = defaultConcurrency
	}
	if cfg.Notify == nil {
		cfg.Notify = func() {}
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Log.GetSink() == nil {
		cfg.Log = logr.Discard()
	}
	e := &Engine{
		us: decide.Identity{
			Owner: cfg.Owner, Label: cfg.Label, FieldManager: cfg.FieldManager, Legacy: cfg.LegacyManagers,
			Namespaces: append(slices.Clone(cfg.Namespaces), cfg.Namespace), Spares: cfg.Spares,
		},
		shelf: inventory.Shelf{Place: inventory.Place{Namespace: cfg.Namespace, Prefix: cfg.InventoryPrefix, Label: cfg.Label, Owner: cfg.Owner}},
		cfg:   cfg, kicked: make(chan struct{}, 1), crdChanged: make(chan struct{}, 1), plans: map[*decide.Revision]*plan{},
		watches: map[place]*see.Watch{}, foreignWatches: map[decide.Key]*foreignWatch{}, retainedWatches: map[decide.Key]*see.Watch{},
		crdChangedAt: map[string]time.Time{}, endpointWatches: map[string]*endpointWatch{}, unmanagedWatches: map[string]*see.Watch{},
	}
	e.conflicts = newConflicts(cfg.Clock)
	cfg.REST = rest.CopyConfig(cfg.REST)
	if cfg.REST.WarningHandler == nil && cfg.REST.WarningHandlerWithContext == nil {
		cfg.REST.WarningHandler = rest.NoWarnings{} // they are about manifests that nobody here can change
	}
	client, err := rest.HTTPClientFor(cfg.REST)
	if err != nil {
		return nil, fmt.Errorf("making an engine's client: %w", err)
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	e.throttle = throttle.New(client.Transport, cfg.Clock)
	client = &http.Client{Transport: e.throttle, Timeout: client.Timeout} // the one given may be the default one, which is everybody's
	if e.dynamic, err = dynamic.NewForConfigAndClient(cfg.REST, client); err != nil {
		return nil, fmt.Errorf("making an engine's client: %w", err)
	}
	reader, err := see.NewReader(cfg.REST, client)
	if err != nil {
		return nil, fmt.Errorf("making an engine's client: %w", err)
	}
	e.sees(reader)
	return e, nil
}

// Run keeps the watches going until ctx ends, and returns when all of them have.
func (e *Engine) Run(ctx context.Context) error {
	e.cluster.Lock()
	e.inventories = &see.Watch{
		Cluster: e.cluster, GVK: configMapKind, Resource: see.Resource{GVR: configMaps, Namespaced: true}, AlwaysServed: true,
		Changed: func(types.NamespacedName) {
			e.inventoryChanges++
			e.kick() // they say which kinds to watch
		},
	}
	e.inventories.Start(ctx, see.View{GVR: configMaps, Namespace: e.cfg.Namespace, Labels: e.shelf.Place.Selector()})
	e.cluster.Unlock()
	e.cluster.Running.Go(func() { e.conflicts.wake(ctx, e.cfg.Notify) })
	e.cluster.Running.Go(func() { e.throttle.Wake(ctx, e.cfg.Notify) })
	defer e.cluster.Running.Wait()
	timer, resync, reread := e.cfg.Clock.NewTimer(askAgain), e.cfg.Clock.NewTimer(resyncEvery), e.cfg.Clock.NewTimer(readForeignEvery/3)
	defer timer.Stop()
	defer resync.Stop()
	defer reread.Stop()
	delay := askAgain
	for running, again := false, false; ; {
		missing := e.syncWatches(ctx, again)
		switch {
		case !missing:
			timer.Stop()
			delay = askAgain
		case !running: // one that runs is left to: kicks may come more often than it fires
			timer.Reset(delay)
		}
		running, again = missing, false
		select {
		case <-ctx.Done():
			return nil
		case <-e.kicked:
		case <-e.crdChanged:
			running, again, delay = false, true, askAgainSoon
		case <-timer.C():
			running, again, delay = false, true, min(2*delay, askAgainLast)
		case <-resync.C():
			e.lookAtAllAgain()
			e.cluster.Running.Go(func() { e.readSweptAgain(ctx) })
			resync.Reset(resyncEvery)
		case <-reread.C():
			e.notifyIfForeignDue()
			reread.Reset(readForeignEvery / 3)
		}
	}
}

// resyncEvery is how often everything is looked at anew that the watches have shown, whether anything changed or not.
const resyncEvery = 10 * time.Minute

// lookAtAllAgain looks anew at everything that was seen, without a request.
func (e *Engine) lookAtAllAgain() {
	e.cluster.Lock()
	e.markAllDirtyLocked()
	e.cluster.Unlock()
	e.cfg.Notify()
}

// sees makes what the engine sees the cluster with.
func (e *Engine) sees(r *see.Reader) {
	e.cluster = &see.Cluster{Reader: r, Log: e.cfg.Log, Now: e.cfg.Clock.Now, Reset: e.markAllDirtyLocked, Kick: e.kick, Notify: e.cfg.Notify}
}

// kick makes Run tend the watches again.
func (e *Engine) kick() {
	select {
	case e.kicked <- struct{}{}:
	default:
	}
}

// Watch says which revisions matter from now on: the kinds of their objects and of the inventories are watched, all
// others are not any more. All other methods take only revisions that are watched. It never blocks; kinds that are not
// served yet are watched as soon as they are.
func (e *Engine) Watch(revs ...*decide.Revision) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	plans := map[*decide.Revision]*plan{}
	for _, rev := range revs {
		if plans[rev] = e.knownLocked(rev); plans[rev] == nil {
			plans[rev] = planOf(rev, e.us)
		}
	}
	if !maps.Equal(plans, e.plans) {
		e.plans = plans
		e.plansChangedLocked()
	}
}

// plan gives the plan of a revision that is watched.
func (e *Engine) plan(rev *decide.Revision) (*plan, error) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if p := e.knownLocked(rev); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("revision %s is not watched", rev.Name)
}

func (e *Engine) plansChangedLocked() {
	e.desired = nil
	e.planChanges++
	e.hadPlans = e.hadPlans || len(e.plans) > 0
	for rev, p := range e.plans {
		p.dirty.orphaned = nil // it depends on what others have
		if e.desired == nil || rev.Number > e.desired.Number {
			e.desired = rev
		}
	}
	e.markAllDirtyLocked()
	e.kick()
}

// knownLocked finds the plan of a revision, also when the caller built the same revision again; nil if it has none.
func (e *Engine) knownLocked(rev *decide.Revision) *plan {
	if p, known := e.plans[rev]; known {
		return p
	}
	for _, p := range e.plans {
		if rev.ContentID != "" && !rev.Partial && !p.rev.Partial && p.rev.ContentID == rev.ContentID && p.rev.Number == rev.Number && p.rev.Name == rev.Name {
			return p
		}
	}
	return nil
}

// seen is the newest known copy of an object and whether its kind is watched; nil and true means that it is not
// there, or at least not with our label.
func (e *Engine) seen(key decide.Key) (*unstructured.Unstructured, bool) {
	e.cluster.Lock()
	w := e.watchLocked(key)
	if w == nil || !w.Seen() {
		e.cluster.Unlock()
		return nil, false
	}
	o := w.Objects[key.NamespacedName()]
	e.cluster.Unlock()
	if o != nil && o.Bare {
		return nil, false
	}
	return o.Tree(key.GVK()), true
}

// keep remembers the result of a write or of a live read, and gives back what is now known of the object. One that
// the watches cannot see is watched by itself.
func (e *Engine) keep(key decide.Key, o *see.Object, r see.Resource) *see.Object {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	w := e.watchLocked(key)
	switch {
	case w == nil:
		return o
	case !e.us.Selects(o.Labels):
		foreign := e.watchForeignLocked(key, r)
		foreign.read = e.cfg.Clock.Now()
		w = foreign.Watch
	}
	w.Wrote(o)
	return w.Objects[o.NamespacedName()]
}
