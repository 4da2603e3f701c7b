package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	inventoryPrefix = "capstan-inventory-"
	inventoryKey    = "inventory.json.gz"
	inventoryLimit  = 64 << 20 // bytes unpacked: far above any real one, below what a forged one could do
	configMapLimit  = 1 << 20  // bytes of content that a ConfigMap takes
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// inventory is the list of what a revision applies, stored in the cluster before its first object is. Pruning works
// from it, so that it never needs an old image.
type inventory struct {
	Revision  string  `json:"revision"`
	Number    int64   `json:"number"`
	ContentID string  `json:"contentID"`
	Entries   []entry `json:"entries"`
	// Adopted: pieced together from what was found, see Adopt. The revision's own list takes its place.
	Adopted bool `json:"inherited,omitempty"`
}

// entry is one object of an inventory. Retained ones belong to older revisions: they are still there because they
// hold data, and go when they do not any more.
type entry struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Component string `json:"component"`
	Wave      int    `json:"wave"` // counts from 1
	Retained  bool   `json:"retained,omitempty"`

	// UID is that of the object as it was when the inventory was written, empty for one that did not exist or was not
	// ours then. An inventory is written before what it lists, and not once more for the sake of UIDs.
	UID types.UID `json:"uid,omitempty"`
}

func (e entry) key() Key {
	return Key{Group: e.Group, Version: e.Version, Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}
}

// inventoryOf lists what a plan applies, with the UIDs of what there is of it already.
func (e *Engine) inventoryOf(p *plan) *inventory {
	e.mu.Lock()
	defer e.mu.Unlock()
	inv := &inventory{Revision: p.rev.Name, Number: p.rev.Number, ContentID: p.rev.ContentID}
	for _, t := range p.targets {
		listed := entry{
			Group: t.key.Group, Version: t.key.Version, Kind: t.key.Kind, Namespace: t.key.Namespace, Name: t.key.Name,
			Component: t.component, Wave: p.waves[t.wave].number,
		}
		if seen := e.object(t.key); seen != nil && seen.Annotations[OwnerAnnotation] == e.cfg.Owner {
			listed.UID = seen.UID
		}
		inv.Entries = append(inv.Entries, listed)
	}
	return inv
}

// lastWaves are the waves with which components were complete, in any revision up to a number: what several of them had
// of a component goes as one.
func lastWaves(stored []storedInventory, number int64) map[string]int {
	last := map[string]int{}
	for _, s := range stored {
		if s.inventory == nil || s.number > number {
			continue
		}
		for _, listed := range s.inventory.Entries {
			last[listed.Component] = max(last[listed.Component], listed.Wave)
		}
	}
	return last
}

// retained are the entries that were carried over from older revisions.
func (inv *inventory) retained() []entry {
	return slices.DeleteFunc(slices.Clone(inv.Entries), func(e entry) bool { return !e.Retained })
}

func inventoryName(number int64) string { return inventoryPrefix + strconv.FormatInt(number, 10) }

// configMap packs the inventory. The plain part is for people.
func (inv *inventory) configMap(namespace, owner string) (*unstructured.Unstructured, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(inv); err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if packed.Len() > configMapLimit-1024 {
		return nil, &RevisionError{Revision: inv.Revision, Faults: []string{fmt.Sprintf(
			"the inventory of its %d objects takes %d bytes packed, and a ConfigMap holds %d; ship fewer objects, or shorter names",
			len(inv.Entries), packed.Len(), configMapLimit)}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"namespace": namespace, "name": inventoryName(inv.Number),
			"labels":      map[string]any{InventoryLabel: ""},
			"annotations": map[string]any{RevisionAnnotation: strconv.FormatInt(inv.Number, 10), OwnerAnnotation: owner},
		},
		"data":       map[string]any{"revision": inv.Revision, "content": inv.ContentID, "objects": strconv.Itoa(len(inv.Entries))},
		"binaryData": map[string]any{inventoryKey: base64.StdEncoding.EncodeToString(packed.Bytes())},
	}}, nil
}

// inventoryFrom unpacks a stored inventory.
func inventoryFrom(obj *unstructured.Unstructured) (*inventory, error) {
	wrap := func(err error) error {
		return fmt.Errorf("reading the inventory in ConfigMap %s/%s: %w", obj.GetNamespace(), obj.GetName(), err)
	}
	encoded, _, _ := unstructured.NestedString(obj.Object, "binaryData", inventoryKey)
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, wrap(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, wrap(err)
	}
	var inv inventory
	if err := json.NewDecoder(io.LimitReader(zip, inventoryLimit)).Decode(&inv); err != nil {
		return nil, wrap(err)
	}
	if inventoryName(inv.Number) != obj.GetName() {
		return nil, wrap(fmt.Errorf("it says that it is of revision %d", inv.Number))
	}
	return &inv, nil
}
