package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/parallel"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Adopt gives inventories to those of the revisions that have none, so that what only they have can be pruned: it
// looks for their objects by label and revision annotation among all kinds that the API server serves, and lists those
// that no other installation and no controller has. It is safe to repeat, and sends nothing when none is missing. Call it
// before anything is pruned, and again after an error.
func (e *Engine) Adopt(ctx context.Context, revs ...inventory.RevisionRef) error {
	missing, err := e.withoutInventory(revs)
	if err != nil || len(missing) == 0 {
		return err
	}
	announced, err := e.cluster.Reader.Discover(ctx)
	if err != nil {
		return fmt.Errorf("adopting revisions: %w", err)
	}
	if silence := announced.UnavailableGroups(); silence != "" {
		e.cfg.Log.Info("Objects of API groups that do not answer are not adopted", "groups", silence)
	}
	found, err := e.findAdoptable(ctx, announced.Kinds)
	if err != nil {
		return fmt.Errorf("adopting revisions: %w", err)
	}
	for _, rev := range missing {
		if err := e.store(ctx, inventory.Rebuild(rev, found)); err != nil {
			return fmt.Errorf("adopting revision %s: %w", rev.Name, err)
		}
	}
	return nil
}

func (e *Engine) withoutInventory(revs []inventory.RevisionRef) ([]inventory.RevisionRef, error) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if !e.seesInventoriesLocked() {
		return nil, fmt.Errorf("adopting revisions: %w", errNotSeen)
	}
	return inventory.Missing(e.storedLocked(), revs), nil
}

// findAdoptable finds all objects that carry the marks of a revision, asking once for every kind.
func (e *Engine) findAdoptable(ctx context.Context, kinds map[schema.GroupVersionKind]see.Resource) ([]inventory.Found, error) {
	var mu sync.Mutex
	var found []inventory.Found
	var errs []error
	kinds = see.Preferred(kinds)
	parallel.Each(e.cfg.Concurrency, slices.Collect(maps.Keys(kinds)), func(_ int, gvk schema.GroupVersionKind) {
		some, err := e.findAdoptableOf(ctx, gvk, kinds[gvk])
		mu.Lock()
		defer mu.Unlock()
		found = append(found, some...)
		if err != nil {
			errs = append(errs, err)
		}
	})
	return found, errors.Join(errs...)
}

// findAdoptableOf asks for the objects with our label. If kube-apiserver cannot fill its cache of the kind, and so refuses
// the selector, it looks through all objects. A kind that cannot be read in that way either has nothing that could be deleted.
func (e *Engine) findAdoptableOf(ctx context.Context, gvk schema.GroupVersionKind, served see.Resource) ([]inventory.Found, error) {
	var found []inventory.Found
	note := func(obj *metav1.PartialObjectMetadata) {
		if f, is := inventory.FoundIn(obj, gvk, e.us); is {
			found = append(found, f)
		}
	}
	list, err := e.cluster.Reader.ListPage(ctx, served.GVR, "", metav1.ListOptions{LabelSelector: e.us.Selector()})
	switch {
	case err == nil:
		for i := range list.Items {
			note(&list.Items[i])
		}
	case apierrors.IsTooManyRequests(err):
		err = e.cluster.Reader.ListAll(ctx, served.GVR, "", note)
	}
	if e.cannotRead(err) {
		e.cfg.Log.Info("Objects that cannot be read are not adopted", "kind", gvk.String(), "error", err.Error())
		return nil, nil
	}
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil, nil
	}
	return found, err
}
