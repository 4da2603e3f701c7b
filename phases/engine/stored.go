package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// storedInventory is an inventory as it lies in the cluster.
type storedInventory struct {
	object    *observed
	number    int64
	inventory *inventory // nil when it cannot be read
	kinds     map[schema.GroupVersionKind]bool
	err       error
}

// storedLocked are this installation's inventories as the watch shows them, lowest number first; each is unpacked once.
func (e *Engine) storedLocked() []storedInventory {
	if e.inventories == nil {
		return nil
	}
	var stored []storedInventory
	for _, obj := range e.inventories.objects {
		known := slices.IndexFunc(e.stored, func(s storedInventory) bool { return s.object == obj })
		switch {
		case known >= 0:
			stored = append(stored, e.stored[known])
		default:
			if s, ours := readStored(obj, e.cfg.Owner); ours {
				stored = append(stored, s)
			}
		}
	}
	slices.SortFunc(stored, func(a, b storedInventory) int { return cmp.Compare(a.number, b.number) })
	e.stored = stored
	return stored
}

// readStored says no for a ConfigMap that is not an inventory of this installation.
func readStored(obj *observed, owner string) (storedInventory, bool) {
	number, err := strconv.ParseInt(strings.TrimPrefix(obj.GetName(), inventoryPrefix), 10, 64)
	if other := obj.GetAnnotations()[OwnerAnnotation]; err != nil || other != "" && other != owner {
		return storedInventory{}, false
	}
	s := storedInventory{object: obj, number: number, kinds: map[schema.GroupVersionKind]bool{}}
	if s.inventory, s.err = inventoryFrom(obj.object(configMapKind)); s.inventory != nil {
		for _, entry := range s.inventory.Entries {
			s.kinds[entry.key().GVK()] = true
		}
	}
	return s, true
}

// storedOf is the stored inventory of one number; false when there is none.
func (e *Engine) storedOf(number int64) (storedInventory, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.storedLocked() {
		if s.number == number {
			return s, true
		}
	}
	return storedInventory{}, false
}

// sameContent refuses to apply other content under a number that was used: pruning and drift rely on a number standing
// for one content.
func sameContent(s storedInventory, rev *Revision) error {
	if s.inventory == nil || s.inventory.ContentID == rev.ContentID {
		return nil
	}
	return &RevisionError{Revision: rev.Name, Faults: []string{fmt.Sprintf(
		"number %d was begun with content %s and cannot be used for content %s; publish it under a new number",
		rev.Number, s.inventory.ContentID, rev.ContentID)}}
}

// record makes sure that the inventory of a plan is stored, before the first object of the revision is written and
// again when somebody deleted it: without it, the objects could never be pruned.
func (e *Engine) record(ctx context.Context, p *plan) error {
	if s, found := e.storedOf(p.rev.Number); found && s.inventory != nil {
		if err := sameContent(s, p.rev); err != nil || !s.inventory.Adopted {
			return err
		}
	}
	return e.store(ctx, e.inventoryOf(p))
}

// store writes an inventory over whatever is stored under its number.
func (e *Engine) store(ctx context.Context, inv *inventory) error {
	obj, err := inv.configMap(e.cfg.Namespace, e.cfg.Owner)
	if err != nil {
		return err
	}
	client := e.dynamic.Resource(configMaps).Namespace(e.cfg.Namespace)
	var result *unstructured.Unstructured
	if s, found := e.storedOf(inv.Number); found {
		obj.SetResourceVersion(s.object.GetResourceVersion())
		result, err = client.Update(ctx, obj, metav1.UpdateOptions{FieldManager: FieldManager})
	} else {
		result, err = client.Create(ctx, obj, metav1.CreateOptions{FieldManager: FieldManager})
	}
	if apierrors.IsAlreadyExists(err) { // there all the same, but not in the watch
		result, err = e.relabel(ctx, inv)
	}
	if err != nil {
		return fmt.Errorf("storing the inventory in ConfigMap %s/%s: %w", e.cfg.Namespace, obj.GetName(), err)
	}
	e.mu.Lock()
	e.inventories.keep(observedFrom(result))
	e.mu.Unlock()
	e.kick()
	return nil
}

// relabel gives an inventory that is stored already its label back, without which no watch would ever show it.
func (e *Engine) relabel(ctx context.Context, inv *inventory) (*unstructured.Unstructured, error) {
	client := e.dynamic.Resource(configMaps).Namespace(e.cfg.Namespace)
	there, err := client.Get(ctx, inventoryName(inv.Number), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if s, ours := readStored(observedFrom(there), e.cfg.Owner); !ours || s.inventory == nil || s.inventory.ContentID != inv.ContentID {
		return nil, errors.New("it exists already and has other content; if nobody needs it, delete it, and the inventory is stored")
	}
	labels := there.GetLabels()
	if _, labelled := labels[InventoryLabel]; labelled {
		return there, nil
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels[InventoryLabel] = ""
	there.SetLabels(labels)
	return client.Update(ctx, there, metav1.UpdateOptions{FieldManager: FieldManager})
}

// discard deletes a stored inventory.
func (e *Engine) discard(ctx context.Context, s storedInventory) error {
	err := e.dynamic.Resource(configMaps).Namespace(e.cfg.Namespace).Delete(ctx, s.object.GetName(),
		metav1.DeleteOptions{Preconditions: exactly(s.object)})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the inventory in ConfigMap %s/%s: %w", e.cfg.Namespace, s.object.GetName(), err)
	}
	e.mu.Lock()
	e.inventories.drop(types.NamespacedName{Namespace: e.cfg.Namespace, Name: s.object.GetName()})
	e.mu.Unlock()
	e.kick()
	return nil
}
