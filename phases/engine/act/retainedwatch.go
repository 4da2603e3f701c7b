package act

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// watchInstances watches the instances of a CRD that is retained because of them, so that somebody notices when the last
// one is gone. Only their metadata is asked for, and only their number matters.
func (e *Engine) watchInstances(crd *unstructured.Unstructured, gvr schema.GroupVersionResource) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	key := decide.KeyOf(crd)
	if e.retainedWatches[key] != nil {
		return
	}
	w := &see.Watch{Cluster: e.cluster, GVK: gvr.GroupVersion().WithKind("Instance"), Resource: see.Resource{GVR: gvr}}
	w.WorthTelling = func() bool { return len(w.Objects) == 0 }
	e.retainedWatches[key] = w
	e.kick()
}

// tendRetainedWatchesLocked starts the watches of instances, and stops those of CRDs that are gone or in the desired revision
// again. The cluster's lock is held.
func (e *Engine) tendRetainedWatchesLocked(ctx context.Context) {
	for crd, w := range e.retainedWatches {
		desired := false
		for _, p := range e.plans {
			desired = desired || p.rev == e.desired && p.keys[crd.Identity()] != nil
		}
		defined := e.watchLocked(crd)
		switch {
		case w.Gone, desired, defined != nil && defined.Seen() && e.objectLocked(crd) == nil:
			if w.Cancel != nil {
				w.Cancel()
			}
			delete(e.retainedWatches, crd)
		case w.Cancel == nil:
			w.Start(ctx, see.View{GVR: w.Resource.GVR, OnlyMetadata: true})
		}
	}
}
