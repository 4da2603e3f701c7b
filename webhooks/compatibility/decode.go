package compatibility

import (
	"errors"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// head is what is read of an object before anybody knows whether it is judged at all.
type head struct {
	name string
	goes bool // it has a deletionTimestamp
}

// missing says that a request has no such object.
func missing(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// headOf reads a head, nil if there is no object. The text is JSON, as the decoder of reviews has seen, and an API server has
// written it: no member stands in it twice. To read it as encoding/json does would go over all of it twice.
func headOf(raw []byte) (*head, error) {
	if missing(raw) {
		return nil, nil
	}
	metadata := gjson.GetBytes(raw, "metadata")
	if !metadata.IsObject() {
		return nil, errors.New("it has no metadata")
	}
	going := metadata.Get("deletionTimestamp")
	return &head{name: metadata.Get("name").String(), goes: going.Exists() && going.Type != gjson.Null}, nil
}

// decode reads an object of a request within bounds, nil if it has none.
func decode[T any](raw []byte) (*T, error) {
	if missing(raw) {
		return nil, nil
	}
	if _, err := crdschema.SizeOf(raw); err != nil {
		return nil, err
	}
	object := new(T)
	return object, kjson.UnmarshalCaseSensitivePreserveInts(raw, object)
}

// decodeUnstructured reads an object whose type nobody knows as [decode] does. Its own way of reading JSON would go over it thrice.
func decodeUnstructured(raw []byte) (*unstructured.Unstructured, error) {
	content, err := decode[map[string]any](raw)
	if content == nil || err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: *content}
	if object.GetKind() == "" {
		return nil, errors.New("it says no kind")
	}
	return object, nil
}
