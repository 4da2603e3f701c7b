package act

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/see"
)

// How long the API server is not asked again for kinds that it does not serve: longer each time, but only a moment after
// a CRD of their group has changed, because what it serves is announced moments later.
const (
	askAgain     = 10 * time.Second
	askAgainSoon = time.Second
	askAgainLast = 2 * time.Minute
)

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
		if gvk.Group == group && e.watches[gvk] == nil && e.crdOfLocked(gvk.GroupKind()) == nil {
			return true
		}
	}
	return false
}
