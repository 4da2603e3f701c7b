package act

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

var configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// configMap is a ConfigMap that a watch showed.
type configMap struct{ *see.Object }

// Whole is all of it.
func (c configMap) Whole() *unstructured.Unstructured { return c.Tree(configMapKind) }

// seesInventoriesLocked says that the inventories were listed. The cluster's lock is held.
func (e *Engine) seesInventoriesLocked() bool { return e.inventories != nil && e.inventories.Seen() }

// knowsInventories says that the inventories were listed once, however long ago. That is enough to keep a revision: its own
// inventory is stored under a name and version that must fit, each write is bound to the copy it was decided on, and the
// numbers on the objects protect what is newer.
func (e *Engine) knowsInventories() bool {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	return e.inventories != nil && e.inventories.Synced
}

// errNotSeen is why nothing is known of the inventories at first.
var errNotSeen = errors.New("the inventories are not seen yet")

// inventoriesErrLocked is why the inventories cannot be watched, nil if they can or nobody knows yet. The cluster's lock is held.
func (e *Engine) inventoriesErrLocked() error {
	if e.inventories == nil || e.inventories.Err == nil {
		return nil
	}
	return fmt.Errorf("watching the inventories in namespace %s: %w", e.cfg.Namespace, e.inventories.Err)
}

// inventoriesErr is inventoriesErrLocked for who does not hold the lock.
func (e *Engine) inventoriesErr() error {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	return e.inventoriesErrLocked()
}

// storedLocked are this installation's inventories as the watch shows them, lowest number first. There is room first for those
// of the watched revisions, which are few, and then for the listed ones: whatever else there is, these are kept.
func (e *Engine) storedLocked() []inventory.Stored {
	if e.inventories == nil {
		return nil
	}
	return e.shelf.Of(func(yield func(inventory.ConfigMap) bool) {
		for _, o := range e.inventories.Objects {
			if !yield(configMap{o}) {
				return
			}
		}
	}, e.numbersAtHandLocked()...)
}

// numbersAtHandLocked are those of the watched revisions, and then those of the listed ones. The cluster's lock is held.
func (e *Engine) numbersAtHandLocked() []int64 {
	var numbers []int64
	for _, p := range e.plans {
		numbers = append(numbers, p.rev.Number)
	}
	return append(numbers, e.listedNumbers...)
}

// storedOf is the stored inventory of one number; false when there is none.
func (e *Engine) storedOf(number int64) (inventory.Stored, bool) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	for _, s := range e.storedLocked() {
		if s.Number == number {
			return s, true
		}
	}
	return inventory.Stored{}, false
}

// inventoryOf lists what a plan applies, with the UIDs of what there is of it already.
func (e *Engine) inventoryOf(p *plan) *inventory.Inventory {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	inv := &inventory.Inventory{Revision: p.rev.Name, Number: p.rev.Number, ContentID: p.rev.ContentID, Listed: p.rev.Listed}
	for _, t := range p.targets {
		listed := inventory.EntryOf(t.Key, t.Component, p.waves[t.wave].number, "")
		if seen := e.objectLocked(t.Key); seen != nil && seen.Annotations[decide.OwnerAnnotation] == e.cfg.Owner {
			listed.UID = seen.UID
		}
		inv.Entries = append(inv.Entries, listed)
	}
	return inv
}

// record makes sure that the inventory of a plan is stored: before the first object of the revision is written, and again
// after somebody has deleted it. Without it the objects could never be pruned. That of a part would not list the rest, so
// it is never stored, and recorded is false where that of the whole is missing. One that was stored without a proof of the
// listed revision gets it.
func (e *Engine) record(ctx context.Context, p *plan) (recorded bool, err error) {
	if s, found := e.storedOf(p.rev.Number); found && s.Inventory != nil {
		if err := s.SameContent(p.rev); err != nil {
			return false, err
		}
		if s.Inventory.IsOwn() {
			return true, e.prove(ctx, p, s.Inventory)
		}
	}
	if p.rev.Partial {
		return false, nil
	}
	err = e.store(ctx, e.inventoryOf(p))
	return err == nil, err
}

// prove adds to an inventory that has none the proof of the listed revision, and changes nothing else in it.
func (e *Engine) prove(ctx context.Context, p *plan, stored *inventory.Inventory) error {
	if stored.Listed != "" || p.rev.Listed == "" {
		return nil
	}
	proved := *stored
	proved.Listed = p.rev.Listed
	return e.store(ctx, &proved)
}

// Announce stores that a revision is about to be listed, so that its entry can be proved from then on.
func (e *Engine) Announce(ctx context.Context, rev inventory.RevisionRef) error {
	if !e.knowsInventories() {
		return fmt.Errorf("announcing revision %s: %w", rev.Name, errNotSeen)
	}
	if s, found := e.storedOf(rev.Number); found && s.Inventory != nil && s.Inventory.Announced && s.Inventory.Listed == rev.Listed {
		return nil
	}
	return e.store(ctx, inventory.Announcement(rev))
}

// store writes an inventory over whatever is stored under its number, unless that is not read for lack of room.
func (e *Engine) store(ctx context.Context, inv *inventory.Inventory) error {
	obj, err := e.shelf.Place.ConfigMap(inv)
	if err != nil {
		return err
	}
	client := e.dynamic.Resource(configMaps).Namespace(e.cfg.Namespace)
	var result *unstructured.Unstructured
	if s, found := e.storedOf(inv.Number); found && s.LacksRoom() {
		return s.Err
	} else if found {
		obj.SetResourceVersion(s.Object.GetResourceVersion())
		result, err = client.Update(ctx, obj, metav1.UpdateOptions{FieldManager: e.us.FieldManager})
	} else {
		result, err = client.Create(ctx, obj, metav1.CreateOptions{FieldManager: e.us.FieldManager})
	}
	if apierrors.IsAlreadyExists(err) { // it exists, but the watch does not show it
		result, err = e.relabel(ctx, inv)
	}
	if err != nil {
		return fmt.Errorf("storing the inventory in ConfigMap %s/%s: %w", e.cfg.Namespace, obj.GetName(), err)
	}
	e.cluster.Lock()
	e.inventories.Wrote(see.ObjectFrom(result))
	e.cluster.Unlock()
	e.kick()
	return nil
}

// relabel puts the label back onto a stored inventory, without which no watch would ever show it. A revision's own list takes
// the place of what was stored before there was one.
func (e *Engine) relabel(ctx context.Context, inv *inventory.Inventory) (*unstructured.Unstructured, error) {
	client := e.dynamic.Resource(configMaps).Namespace(e.cfg.Namespace)
	there, err := client.Get(ctx, e.shelf.Place.Name(inv.Number), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	s, ours := inventory.ReadStored(e.shelf.Place, configMap{see.ObjectFrom(there)})
	if !ours || s.Inventory == nil || s.Inventory.ContentID != inv.ContentID {
		return nil, errors.New("it exists already and has other content; if nobody needs it, delete it, and the inventory is stored")
	}
	if inv.IsOwn() && !s.Inventory.IsOwn() { // what is there does not list the objects that are about to be written
		obj, err := e.shelf.Place.ConfigMap(inv)
		if err != nil {
			return nil, err
		}
		obj.SetResourceVersion(there.GetResourceVersion())
		return client.Update(ctx, obj, metav1.UpdateOptions{FieldManager: e.us.FieldManager})
	}
	labels := there.GetLabels()
	if value, labelled := labels[decide.InventoryLabel]; labelled && value == e.shelf.Place.Label {
		return there, nil
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels[decide.InventoryLabel] = e.shelf.Place.Label
	there.SetLabels(labels)
	return client.Update(ctx, there, metav1.UpdateOptions{FieldManager: e.us.FieldManager})
}

// discard deletes a stored inventory.
func (e *Engine) discard(ctx context.Context, s inventory.Stored) error {
	err := e.dynamic.Resource(configMaps).Namespace(e.cfg.Namespace).Delete(ctx, s.Object.GetName(),
		metav1.DeleteOptions{Preconditions: exactly(s.Object)})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the inventory in ConfigMap %s/%s: %w", e.cfg.Namespace, s.Object.GetName(), err)
	}
	e.cluster.Lock()
	e.inventories.Drop(types.NamespacedName{Namespace: e.cfg.Namespace, Name: s.Object.GetName()})
	e.cluster.Unlock()
	e.kick()
	return nil
}
