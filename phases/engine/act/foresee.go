package act

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/parallel"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Request is what a dry run would ask for.
type Request struct {
	Verb            string // create, patch or delete
	Resource        schema.GroupResource
	Namespace, Name string
}

// ForeseeOptions are how a forecast is made.
type ForeseeOptions struct {
	// MayTry says whether a dry run may be sent; nil: always. It may be asked several at a time.
	MayTry func(context.Context, Request) bool
	// Consents are what an administrator consented to lose for the revision.
	Consents map[decide.Key]decide.Consent
}

// ListInventories shows an engine that does not run the inventories as they are now.
func (e *Engine) ListInventories(ctx context.Context) error {
	e.cluster.Lock()
	e.inventories = &see.Watch{
		Cluster: e.cluster, GVK: configMapKind, Resource: see.Resource{GVR: configMaps, Namespaced: true}, AlwaysServed: true,
		Changed: func(types.NamespacedName) { e.inventoryChanges++ },
	}
	e.cluster.Unlock()
	if err := e.inventories.Fill(ctx, see.View{GVR: configMaps, Namespace: e.cfg.Namespace, Labels: e.shelf.Place.Selector()}); err != nil {
		return fmt.Errorf("listing the inventories in namespace %s: %w", e.cfg.Namespace, err)
	}
	return nil
}

// Foresee says what Reconcile and then Teardown would make of a revision, from lists and dry runs: it decides as they do, by
// the same code, and changes nothing. The engine does not run, and was handed the revision by Watch.
func (e *Engine) Foresee(ctx context.Context, rev *decide.Revision, opts ForeseeOptions) (*report.Forecast, error) {
	p, err := e.plan(rev)
	if err == nil {
		err = p.err
	}
	if err != nil {
		return nil, err
	}
	f := &foresight{run: &run{e: e, p: p, wrote: map[decide.Key]decide.Verdict{}}, opts: opts, outlooks: map[decide.Key]*report.Foreseen{}}
	f.list(ctx)
	e.lookPlan(p)
	for i := range p.waves {
		f.wave(ctx, &p.waves[i])
	}
	f.removals(ctx)
	return &f.told, ctx.Err()
}

// foresight is the making of a forecast.
type foresight struct {
	*run
	opts ForeseeOptions
	told report.Forecast
	// judges are those that come with the waves that were foreseen.
	judges []comingJudge

	known    sync.Mutex
	outlooks map[decide.Key]*report.Foreseen // by identity
}

// list lists what the revision and inventories have objects of: definitions first, which say how other kinds are served.
func (f *foresight) list(ctx context.Context) {
	announced, err := f.e.cluster.Reader.Discover(ctx)
	f.e.cluster.Lock()
	f.e.kinds = see.Kinds{Discovered: announced, Asked: true, Err: err}
	f.e.cluster.Unlock()
	if err != nil {
		f.unseen("the kinds that the API server serves: %v", err)
	}
	f.fill(ctx, func(gvk schema.GroupVersionKind) bool { return gvk == see.CRDKind })
	f.fill(ctx, func(schema.GroupVersionKind) bool { return true })
	f.listDefinitions(ctx)
	f.e.cluster.Lock()
	f.e.markAllDirtyLocked()
	f.e.cluster.Unlock()
}

// fill lists the kinds that are chosen, as far as they are served and were not listed before.
func (f *foresight) fill(ctx context.Context, chosen func(schema.GroupVersionKind) bool) {
	type view struct {
		*see.Watch
		see.View
	}
	var todo []view
	f.e.cluster.Lock()
	for gvk, namespaces := range f.e.neededLocked() {
		r, served, _ := f.e.resolveLocked(gvk)
		if !served || !chosen(gvk) {
			continue
		}
		for namespace := range namespaces {
			at := placeOf(gvk, r, namespace)
			if f.e.watches[at] == nil {
				w := f.e.watchOf(gvk, r)
				f.e.watches[at] = w
				todo = append(todo, view{w, see.View{GVR: r.GVR, Namespace: at.namespace, Labels: f.e.us.Selector()}})
			}
		}
	}
	f.e.cluster.Unlock()
	parallel.Each(f.e.cfg.Concurrency, todo, func(_ int, v view) {
		if err := v.Fill(ctx, v.View); err != nil && !apierrors.IsForbidden(err) { // what may not be listed is told with its objects
			f.unseen("%s%s: %v", v.GVR.GroupResource(), within(v.Namespace), err)
		}
	})
}

// listDefinitions lists the definitions that the revision leaves to others.
func (f *foresight) listDefinitions(ctx context.Context) {
	f.told.Definitions = map[string]*unstructured.Unstructured{}
	for _, name := range f.p.rev.Unmanaged {
		w := &see.Watch{Cluster: f.e.cluster, GVK: see.CRDKind, Resource: see.Builtin[see.CRDKind], AlwaysServed: true}
		if err := w.Fill(ctx, see.View{GVR: w.Resource.GVR, Fields: "metadata.name=" + name}); err != nil {
			f.unseen("CustomResourceDefinition %s: %v", name, err)
			continue
		}
		f.told.Definitions[name] = w.Objects[types.NamespacedName{Name: name}].Tree(see.CRDKind)
		f.e.cluster.Lock()
		f.e.unmanagedWatches[name] = w
		f.e.cluster.Unlock()
	}
}

func within(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

func (f *foresight) unseen(format string, args ...any) {
	f.known.Lock()
	defer f.known.Unlock()
	f.told.Unseen = append(f.told.Unseen, fmt.Sprintf(format, args...))
}

// wave foresees a wave, as it is written: bindings last.
func (f *foresight) wave(ctx context.Context, w *wave) {
	told := report.ForeseenWave{Number: w.number, Component: w.component, Class: w.class.String(), Objects: make([]*report.Foreseen, len(w.targets))}
	for _, bound := range [...]bool{false, true} {
		due := slices.DeleteFunc(slices.Clone(w.targets), func(t *target) bool { return (t.bound != nil) != bound })
		parallel.Each(f.e.cfg.Concurrency, due, func(_ int, t *target) {
			o := f.object(ctx, t)
			f.judgedLater(o, t)
			f.stuck(o, t)
			f.known.Lock()
			defer f.known.Unlock()
			told.Objects[t.place], f.outlooks[t.Key.Identity()] = o, o
		})
	}
	f.told.Waves = append(f.told.Waves, told)
	f.addJudges(w)
}

// outlookOf is what was foreseen of an object that came before; nil if nothing was.
func (f *foresight) outlookOf(identity decide.Key) *report.Foreseen {
	f.known.Lock()
	defer f.known.Unlock()
	return f.outlooks[identity]
}

func (f *foresight) mayTry(ctx context.Context, verb string, key decide.Key, of schema.GroupVersionResource) bool {
	return f.opts.MayTry == nil || f.opts.MayTry(ctx, Request{Verb: verb, Resource: of.GroupResource(), Namespace: key.Namespace, Name: key.Name})
}
