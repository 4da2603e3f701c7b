package compatibility

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// head is what is read of an object before anybody knows whether it is judged at all.
type head struct {
	Metadata struct {
		Name              string       `json:"name"`
		DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
	} `json:"metadata"`
}

// missing says that a request has no such object.
func missing(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// headOf reads a head, nil if there is no object.
func headOf(raw []byte) (*head, error) {
	if missing(raw) {
		return nil, nil
	}
	h := &head{}
	return h, kjson.UnmarshalCaseSensitivePreserveInts(raw, h)
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
	return object, json.Unmarshal(raw, object)
}
