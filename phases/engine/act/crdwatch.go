package act

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// How long the API server is not asked again for kinds that it does not serve: longer each time, but only a moment after
// a CRD of their group has changed, because what it serves is announced moments later.
const (
	askAgain     = 10 * time.Second
	askAgainSoon = time.Second
	askAgainLast = 2 * time.Minute
)

// schemaLag is how long after a change of a CRD an API server may still serve the schema before: each learns of it by a
// watch of its own.
const schemaLag = 10 * time.Second

// awaitsSchema says that the CRD of an object has just changed, so that its refusal may be about the schema before.
func (e *Engine) awaitsSchema(key decide.Key) bool {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	crd := e.crdOfLocked(key.GVK().GroupKind())
	return crd != nil && e.cfg.Clock.Since(e.crdChangedAt[crd.Key.Name]) < schemaLag
}

// tendCRDWatchLocked watches the names of all CRDs while a kind is missing, whoever installs them. The cluster's lock is held.
func (e *Engine) tendCRDWatchLocked(ctx context.Context, missing bool) {
	switch {
	case !missing && e.crdWatch != nil:
		e.crdWatch.Cancel()
		e.crdWatch = nil
	case missing && e.crdWatch == nil:
		e.crdWatch = &see.Watch{
			Cluster: e.cluster, GVK: see.CRDKind, Resource: see.Builtin[see.CRDKind], AlwaysServed: true, WorthTelling: func() bool { return false },
			Changed: func(name types.NamespacedName) {
				if _, group, _ := strings.Cut(name.Name, "."); e.awaitsGroupLocked(group) {
					select {
					case e.crdChanged <- struct{}{}:
					default:
					}
				}
			},
		}
		e.crdWatch.Start(ctx, see.View{GVR: see.Builtin[see.CRDKind].GVR, OnlyMetadata: true})
	}
}

// awaitsGroupLocked says whether a kind of the group is needed and not watched yet. It does not ask
// for those that a watched revision defines: seeing their CRD is enough.
func (e *Engine) awaitsGroupLocked(group string) bool {
	for gvk := range e.neededLocked() {
		if _, watched := e.watchedAsLocked(gvk); gvk.Group == group && !watched && e.crdOfLocked(gvk.GroupKind()) == nil {
			return true
		}
	}
	return false
}
