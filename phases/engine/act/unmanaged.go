package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Noted is what the caller knows of the cluster and revisions do not say.
type Noted struct {
	Unmanaged []string // names of CRDs that no revision applies, updates or deletes, whatever it has itself
	Current   int64    // the number of the revision that is installed, 0 for none
	// LeftAlone are objects that are not written, created or deleted, by identity, with who asks for that and until when.
	LeftAlone map[decide.Key]string
	// Adopts are objects without a controller that revision AdoptsIn may adopt, by identity, with the UID of each.
	Adopts   map[decide.Key]types.UID
	AdoptsIn int64
}

// Note says what counts from now on, in all that is asked of the engine.
func (e *Engine) Note(n Noted) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	n.Unmanaged = slices.Compact(slices.Sorted(slices.Values(n.Unmanaged)))
	if e.noted.Current == n.Current && slices.Equal(e.noted.Unmanaged, n.Unmanaged) && maps.Equal(e.noted.LeftAlone, n.LeftAlone) &&
		e.noted.AdoptsIn == n.AdoptsIn && maps.Equal(e.noted.Adopts, n.Adopts) {
		return
	}
	e.noted = n
	for _, p := range e.plans {
		p.dirty.orphaned = nil // whether they are let go of depends on it
	}
	e.markAllDirtyLocked()
	e.kick()
}

// leavesLocked says that no revision manages a CRD. The cluster's lock is held.
func (e *Engine) leavesLocked(crd string) bool {
	_, leaves := slices.BinarySearch(e.noted.Unmanaged, crd)
	return leaves
}

// tendUnmanagedWatchesLocked watches the CRDs that revisions leave to others, and no others. The cluster's lock is held.
func (e *Engine) tendUnmanagedWatchesLocked(ctx context.Context) {
	wanted := set(e.noted.Unmanaged)
	for _, p := range e.plans {
		for _, name := range p.rev.Unmanaged {
			wanted[name] = true
		}
	}
	maps.DeleteFunc(e.unmanagedWatches, func(name string, w *see.Watch) bool {
		if !wanted[name] {
			w.Cancel()
		}
		return !wanted[name]
	})
	for name := range wanted {
		if e.unmanagedWatches[name] != nil {
			continue
		}
		w := &see.Watch{
			Cluster: e.cluster, GVK: see.CRDKind, Resource: see.Builtin[see.CRDKind], AlwaysServed: true,
			Changed: func(of types.NamespacedName) { e.markRequirementsDirtyLocked(of.Name) },
		}
		e.unmanagedWatches[name] = w
		w.Start(ctx, see.View{GVR: w.Resource.GVR, Fields: "metadata.name=" + name})
	}
}

// LetGo takes our marks and the ownership of fields off the CRDs that are noted as unmanaged and were ours, and changes
// nothing else of them. It gives back those that it has let go of, and sends nothing when there is none.
func (e *Engine) LetGo(ctx context.Context) (released []decide.Key, err error) {
	var errs []error
	for _, o := range e.toRelease() {
		actual := o.Tree(see.CRDKind)
		if !e.us.Ours(actual) {
			continue
		}
		key := decide.KeyOf(actual)
		switch err := e.unmark(ctx, e.dynamic.Resource(see.Builtin[see.CRDKind].GVR), actual); {
		case err == nil:
			released = append(released, key)
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // the watch brings what it is now
		default:
			errs = append(errs, fmt.Errorf("letting go of %s: %w", key, err))
		}
	}
	return released, errors.Join(errs...)
}

// toRelease are the noted CRDs that may be ours, as the watches show them, in the order of their names.
func (e *Engine) toRelease() (found []*see.Object) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	for _, name := range e.noted.Unmanaged {
		w := e.unmanagedWatches[name]
		if w == nil || !w.Seen() || e.noted.LeftAlone[decide.Key{Group: see.CRDKind.Group, Kind: see.CRDKind.Kind, Name: name}] != "" {
			continue
		}
		o := w.Objects[types.NamespacedName{Name: name}]
		if o != nil {
			found = append(found, o)
		}
	}
	return found
}
