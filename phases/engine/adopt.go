package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RevisionRef names a revision that was listed by whoever was here before, or whose inventory was lost.
type RevisionRef struct {
	Name      string
	Number    int64
	ContentID string
}

// Adopt gives inventories to those of the revisions that have none, so that what only they have can be pruned: it
// looks for their objects by label and revision annotation among all kinds that the API server serves, and lists those
// that no other installation and no controller has. It is safe to repeat, and sends nothing when none is missing. To be
// asked before anything is pruned; an error asks for another try.
func (e *Engine) Adopt(ctx context.Context, revs ...RevisionRef) error {
	missing, err := e.withoutInventory(revs)
	if err != nil || len(missing) == 0 {
		return err
	}
	announced, err := e.announced(ctx)
	if err != nil {
		return fmt.Errorf("adopting revisions: %w", err)
	}
	if silence := announced.silence(); silence != "" {
		e.cfg.Log.Info("Objects of API groups that do not answer are not adopted", "groups", silence)
	}
	found, err := e.adoptables(ctx, announced.kinds)
	if err != nil {
		return fmt.Errorf("adopting revisions: %w", err)
	}
	for _, rev := range missing {
		if err := e.store(ctx, adoptedInventory(rev, found)); err != nil {
			return fmt.Errorf("adopting revision %s: %w", rev.Name, err)
		}
	}
	return nil
}

func (e *Engine) withoutInventory(revs []RevisionRef) ([]RevisionRef, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inventories == nil || !e.inventories.synced {
		return nil, errors.New("adopting revisions: the inventories are not seen yet")
	}
	stored := map[int64]bool{}
	for _, s := range e.storedLocked() {
		stored[s.number] = true
	}
	return slices.DeleteFunc(slices.Clone(revs), func(rev RevisionRef) bool { return stored[rev.Number] }), nil
}

// heirloom is an object that some revision applied.
type adoptable struct {
	entry  entry
	number int64
	born   time.Time
}

// heirlooms finds all objects that carry the marks of a revision, asking once for every kind.
func (e *Engine) adoptables(ctx context.Context, kinds map[schema.GroupVersionKind]resource) ([]adoptable, error) {
	var mu sync.Mutex
	var found []adoptable
	var errs []error
	kinds = preferred(kinds)
	parallel(e.cfg.Concurrency, slices.Collect(maps.Keys(kinds)), func(_ int, gvk schema.GroupVersionKind) {
		some, err := e.adoptablesOf(ctx, gvk, kinds[gvk])
		mu.Lock()
		defer mu.Unlock()
		found = append(found, some...)
		if err != nil {
			errs = append(errs, err)
		}
	})
	return found, errors.Join(errs...)
}

// heirloomsOf asks for the objects with our label. Where kube-apiserver cannot fill its cache of the kind and so refuses
// to select, all objects are looked through; a kind that cannot be read even so has nothing that could be deleted.
func (e *Engine) adoptablesOf(ctx context.Context, gvk schema.GroupVersionKind, served resource) ([]adoptable, error) {
	var found []adoptable
	note := func(obj *metav1.PartialObjectMetadata) {
		if h, is := e.adoptableFrom(obj, gvk); is {
			found = append(found, h)
		}
	}
	list, err := e.listPage(ctx, served.gvr, "", metav1.ListOptions{LabelSelector: ManagedByLabel})
	switch {
	case err == nil:
		for i := range list.Items {
			note(&list.Items[i])
		}
	case apierrors.IsTooManyRequests(err):
		err = e.listAll(ctx, served.gvr, "", note)
	}
	if e.unreadable(err) {
		e.cfg.Log.Info("Objects that cannot be read are not adopted", "kind", gvk.String(), "error", err.Error())
		return nil, nil
	}
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil, nil
	}
	return found, err
}

// heirloomFrom says no for what is not managed, another installation's or a controller's.
func (e *Engine) adoptableFrom(obj *metav1.PartialObjectMetadata, gvk schema.GroupVersionKind) (adoptable, bool) {
	component := obj.Labels[ManagedByLabel]
	number, err := strconv.ParseInt(obj.Annotations[RevisionAnnotation], 10, 64)
	owner := obj.Annotations[OwnerAnnotation]
	if component == "" || err != nil || number < 1 || owner != "" && owner != e.cfg.Owner || metav1.GetControllerOf(obj) != nil {
		return adoptable{}, false
	}
	return adoptable{
		entry: entry{
			Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name,
			Component: component, UID: obj.UID,
		},
		number: number, born: obj.CreationTimestamp.Time,
	}, true
}

// adoptedInventory is what is left of a revision: the objects that carry its number, since no later one has them.
// Nobody noted in which waves it came, but its components came one after the other, and their objects say when.
func adoptedInventory(rev RevisionRef, found []adoptable) *inventory {
	inv := &inventory{Revision: rev.Name, Number: rev.Number, ContentID: rev.ContentID, Adopted: true}
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
