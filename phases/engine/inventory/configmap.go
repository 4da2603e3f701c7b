package inventory

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

const (
	contentKey     = "inventory.json.gz"
	contentLimit   = 8 << 20 // bytes unpacked: several times what 5000 objects take
	listLimit      = 20_000  // elements of a list: short ones take far more memory than text
	configMapLimit = 1 << 20 // bytes of content that a ConfigMap takes
)

// room is what inventories may take.
type room struct {
	bytes    int // unpacked
	elements int // of all lists
}

// roomForOne is what one inventory may take.
var roomForOne = room{bytes: contentLimit, elements: listLimit}

// roomForAll is what all inventories may take together: that of a full list of revisions with 5000 objects each, however
// long their names are, so that there is always room for the few at hand.
var roomForAll = room{bytes: 6 * contentLimit, elements: 5 * listLimit}

// ErrNoRoom is why an inventory is not read that may be as good as any other.
var ErrNoRoom = fmt.Errorf("all inventories together may take %d MiB and list %d objects, and others take it all; delete the ConfigMaps that are inventories of no revision of yours; if all are yours, let the desired revision complete, or go back to the current one, and delete first the oldest of a revision that is still listed: it is rebuilt from the objects that carry its number",
	roomForAll.bytes>>20, roomForAll.elements)

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

// ConfigMap packs an inventory. The plain part is for people. One that Read would refuse is a fault of the revision.
func (p Place) ConfigMap(inv *Inventory) (*unstructured.Unstructured, error) {
	tooLarge := func(takes string, holds int) error {
		return &decide.RevisionError{Revision: inv.Revision, Faults: []string{fmt.Sprintf(
			"the inventory of its %d objects takes %s, and a ConfigMap holds %d; ship fewer objects, or shorter names", len(inv.Entries), takes, holds)}}
	}
	text, err := json.Marshal(inv)
	if err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if len(text) > contentLimit {
		return nil, tooLarge(fmt.Sprintf("%d bytes", len(text)), contentLimit)
	}
	if listed := inv.elements(); listed > listLimit {
		return nil, tooLarge(fmt.Sprintf("a list of %d", listed), listLimit)
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(text); err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("packing the inventory of revision %d: %w", inv.Number, err)
	}
	if packed.Len() > configMapLimit-1024 {
		return nil, tooLarge(fmt.Sprintf("%d bytes packed", packed.Len()), configMapLimit)
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

// Read unpacks a stored inventory. One that is damaged, larger than any that is written, of another number than its name
// says, or that is announced and lists something, is an error.
func (p Place) Read(obj *unstructured.Unstructured) (*Inventory, error) {
	inv, _, err := p.readInto(obj, roomForOne)
	return inv, err
}

// readInto is Read where there is so much room left, and what of it was taken, by one that is of no use as well. It is
// ErrNoRoom if that is not enough.
func (p Place) readInto(obj *unstructured.Unstructured, left room) (*Inventory, room, error) {
	var taken room
	wrap := func(err error) (*Inventory, room, error) {
		return nil, taken, fmt.Errorf("reading the inventory in ConfigMap %s/%s: %w", obj.GetNamespace(), obj.GetName(), err)
	}
	if left.bytes <= 0 {
		return wrap(ErrNoRoom)
	}
	text, err := unpack(obj, min(contentLimit, left.bytes))
	taken.bytes = min(len(text), left.bytes)
	if err != nil {
		return wrap(err)
	}
	inv, err := decode(text)
	if err != nil {
		return wrap(err)
	}
	taken.elements = min(inv.elements(), left.elements)
	switch elements := inv.elements(); {
	case p.Name(inv.Number) != obj.GetName():
		return wrap(fmt.Errorf("it says that it is of revision %d", inv.Number))
	case inv.Announced && elements > 0:
		return wrap(errors.New("it is of a revision of which nothing is applied, and lists something all the same"))
	case elements > listLimit:
		return wrap(fmt.Errorf("its lists are longer than %d", listLimit))
	case elements > left.elements:
		return wrap(ErrNoRoom)
	}
	return inv, taken, nil
}

// elements are those of all lists.
func (inv *Inventory) elements() int { return len(inv.Entries) + len(inv.Silent) }

// unpack reads the text of an inventory, of at most so many bytes; with an error, as much as was unpacked of it.
func unpack(obj *unstructured.Unstructured, limit int) ([]byte, error) {
	encoded, _, _ := unstructured.NestedString(obj.Object, "binaryData", contentKey)
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(zip, int64(limit)+1))
	switch {
	case err != nil:
		return text, err
	case len(text) > contentLimit:
		return text, fmt.Errorf("it takes more than %d bytes", contentLimit)
	case len(text) > limit:
		return text, ErrNoRoom
	}
	return text, nil
}

// decode reads an inventory whose lists are bounded before there is memory for them.
func decode(text []byte) (*Inventory, error) {
	inv := &Inventory{}
	read := struct {
		*Inventory
		Entries bounded[Entry]  `json:"entries"`
		Silent  bounded[string] `json:"silent"`
	}{Inventory: inv}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	inv.Entries, inv.Silent = read.Entries, read.Silent
	return inv, nil
}

// bounded is a list that is no longer than one that is written.
type bounded[T any] []T

// UnmarshalJSON reads one element after the other, since encoding/json would make room for all.
func (b *bounded[T]) UnmarshalJSON(text []byte) error {
	*b = nil
	if string(text) == "null" {
		return nil
	}
	from := json.NewDecoder(bytes.NewReader(text))
	if start, err := from.Token(); err != nil {
		return err
	} else if start != json.Delim('[') {
		return errors.New("a list is something else")
	}
	for from.More() {
		if len(*b) == listLimit {
			return fmt.Errorf("a list of it is longer than %d", listLimit)
		}
		var element T
		if err := from.Decode(&element); err != nil {
			return err
		}
		*b = append(*b, element)
	}
	return nil
}
