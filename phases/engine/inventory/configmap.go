package inventory

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

const (
	contentKey     = "inventory.json.gz"
	contentLimit   = 64 << 20 // bytes unpacked: far above any real one, below what a forged one could do
	configMapLimit = 1 << 20  // bytes of content that a ConfigMap takes
)

// Place is where an installation keeps its inventories. Two installations with different prefixes may share a namespace.
type Place struct {
	Namespace string
	Prefix    string // of the names of the ConfigMaps, before the number
	Label     string // value of decide.InventoryLabel
	Owner     string
}

// Name is the name of the ConfigMap of a revision number.
func (p Place) Name(number int64) string { return p.Prefix + strconv.FormatInt(number, 10) }

// Selector selects the ConfigMaps.
func (p Place) Selector() string { return decide.InventoryLabel + "=" + p.Label }

// ConfigMap packs an inventory. The plain part is for people.
func (p Place) ConfigMap(inv *Inventory) (*unstructured.Unstructured, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(inv); err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if packed.Len() > configMapLimit-1024 {
		return nil, &decide.RevisionError{Revision: inv.Revision, Faults: []string{fmt.Sprintf(
			"the inventory of its %d objects takes %d bytes packed, and a ConfigMap holds %d; ship fewer objects, or shorter names",
			len(inv.Entries), packed.Len(), configMapLimit)}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"namespace": p.Namespace, "name": p.Name(inv.Number),
			"labels":      map[string]any{decide.InventoryLabel: p.Label},
			"annotations": map[string]any{decide.RevisionAnnotation: strconv.FormatInt(inv.Number, 10), decide.OwnerAnnotation: p.Owner},
		},
		"data":       map[string]any{"revision": inv.Revision, "content": inv.ContentID, "objects": strconv.Itoa(len(inv.Entries))},
		"binaryData": map[string]any{contentKey: base64.StdEncoding.EncodeToString(packed.Bytes())},
	}}, nil
}

// Read unpacks a stored inventory. One that is damaged, or of another number than its name says, is an error.
func (p Place) Read(obj *unstructured.Unstructured) (*Inventory, error) {
	wrap := func(err error) error {
		return fmt.Errorf("reading the inventory in ConfigMap %s/%s: %w", obj.GetNamespace(), obj.GetName(), err)
	}
	encoded, _, _ := unstructured.NestedString(obj.Object, "binaryData", contentKey)
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, wrap(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, wrap(err)
	}
	var inv Inventory
	if err := json.NewDecoder(io.LimitReader(zip, contentLimit)).Decode(&inv); err != nil {
		return nil, wrap(err)
	}
	if p.Name(inv.Number) != obj.GetName() {
		return nil, wrap(fmt.Errorf("it says that it is of revision %d", inv.Number))
	}
	return &inv, nil
}
