package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// Inherited is a revision that was listed by whoever was here before, or whose inventory was lost.
type Inherited struct {
	Name      string
	Number    int64
	ContentID string
}

// Inherit gives inventories to those of the revisions that have none, so that what only they have can be pruned: it
// looks for their objects by label and revision annotation among all kinds that the API server serves, and lists those
// that no other installation and no controller has. It is safe to repeat, and sends nothing when none is missing. To be
// asked before anything is pruned; an error asks for another try.
func (e *Engine) Inherit(ctx context.Context, revs ...Inherited) error {
	missing, err := e.withoutInventory(revs)
	if err != nil || len(missing) == 0 {
		return err
	}
	kinds, err := e.announced(ctx)
	if err != nil {
		return fmt.Errorf("inheriting revisions: %w", err)
	}
	found, err := e.heirlooms(ctx, kinds)
	if err != nil {
		return fmt.Errorf("inheriting revisions: %w", err)
	}
	for _, rev := range missing {
		if err := e.store(ctx, inheritedInventory(rev, found)); err != nil {
			return fmt.Errorf("inheriting revision %s: %w", rev.Name, err)
		}
	}
	return nil
}

func (e *Engine) withoutInventory(revs []Inherited) ([]Inherited, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inventories == nil || !e.inventories.synced {
		return nil, errors.New("inheriting revisions: the inventories are not seen yet")
	}
	stored := map[int64]bool{}
	for _, s := range e.storedLocked() {
		stored[s.number] = true
	}
	return slices.DeleteFunc(slices.Clone(revs), func(rev Inherited) bool { return stored[rev.Number] }), nil
}

// heirloom is an object that some revision applied.
type heirloom struct {
	entry  entry
	number int64
	born   time.Time
}

// heirlooms finds all objects that carry the marks of a revision, asking once for every kind.
func (e *Engine) heirlooms(ctx context.Context, kinds map[schema.GroupVersionKind]resource) ([]heirloom, error) {
	var mu sync.Mutex
	var found []heirloom
	var errs []error
	slots := make(chan struct{}, e.cfg.Concurrency)
	var all sync.WaitGroup
	for gvk, served := range preferred(kinds) {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			some, err := e.heirloomsOf(ctx, gvk, served)
			mu.Lock()
			defer mu.Unlock()
			found = append(found, some...)
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	return found, errors.Join(errs...)
}

// preferred leaves one version of every kind that can be listed, the most stable one.
func preferred(kinds map[schema.GroupVersionKind]resource) map[schema.GroupVersionKind]resource {
	best := map[schema.GroupKind]string{}
	for gvk, served := range kinds {
		if known, has := best[gvk.GroupKind()]; served.lists && (!has || apiversion.CompareKubeAwareVersionStrings(gvk.Version, known) > 0) {
			best[gvk.GroupKind()] = gvk.Version
		}
	}
	chosen := map[schema.GroupVersionKind]resource{}
	for kind, v := range best {
		chosen[kind.WithVersion(v)] = kinds[kind.WithVersion(v)]
	}
	return chosen
}

func (e *Engine) heirloomsOf(ctx context.Context, gvk schema.GroupVersionKind, served resource) ([]heirloom, error) {
	list, err := e.metadata.Resource(served.gvr).List(ctx, metav1.ListOptions{LabelSelector: ManagedByLabel})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", served.gvr.GroupResource(), err)
	}
	var found []heirloom
	for i := range list.Items {
		obj := &list.Items[i]
		number, err := strconv.ParseInt(obj.Annotations[RevisionAnnotation], 10, 64)
		owner := obj.Annotations[OwnerAnnotation]
		if err != nil || number < 1 || owner != "" && owner != e.cfg.Owner || metav1.GetControllerOf(obj) != nil {
			continue
		}
		found = append(found, heirloom{
			entry: entry{
				Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name,
				Component: obj.Labels[ManagedByLabel], UID: obj.UID,
			},
			number: number, born: obj.CreationTimestamp.Time,
		})
	}
	return found, nil
}

// inheritedInventory is what is left of a revision: the objects that carry its number, since no later one has them.
// Nobody noted in which waves it came, but its components came one after the other, and their objects say when.
func inheritedInventory(rev Inherited, found []heirloom) *inventory {
	inv := &inventory{Revision: rev.Name, Number: rev.Number, ContentID: rev.ContentID, Inherited: true}
	begun := map[string]time.Time{}
	for _, f := range found {
		if first, known := begun[f.entry.Component]; !known || f.born.Before(first) {
			begun[f.entry.Component] = f.born
		}
		if f.number == rev.Number {
			inv.Entries = append(inv.Entries, f.entry)
		}
	}
	slices.SortFunc(inv.Entries, func(a, b entry) int {
		return cmp.Or(begun[a.Component].Compare(begun[b.Component]), cmp.Compare(a.Component, b.Component),
			cmp.Compare(classOf(a.key()), classOf(b.key())), cmp.Compare(a.key().String(), b.key().String()))
	})
	for i := range inv.Entries {
		here := &inv.Entries[i]
		if i == 0 {
			here.Wave = 1
			continue
		}
		before := inv.Entries[i-1]
		if here.Wave = before.Wave; here.Component != before.Component || classOf(here.key()) != classOf(before.key()) {
			here.Wave++
		}
	}
	return inv
}
