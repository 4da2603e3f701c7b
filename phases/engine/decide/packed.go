package decide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Packed is an object as compressed JSON. A CustomResourceDefinition of 70 KB takes 700 KB as a tree of maps and 10 KB
// so; the tree is made when a decision or a write needs it, and dropped after it. A better compression would save another
// eighth, and take five times as long and half a megabyte of tables for each goroutine.
type Packed []byte

var packing sync.Pool // of *[]byte, room to compress into

// Pack compresses the JSON of an object.
func Pack(text []byte) Packed {
	room, used := packing.Get().(*[]byte)
	if !used {
		room = new([]byte)
	}
	defer packing.Put(room)
	if need := s2.MaxEncodedLen(len(text)); cap(*room) < need {
		*room = make([]byte, need)
	}
	return bytes.Clone(s2.Encode((*room)[:cap(*room)], text))
}

// ToJSON is the JSON of a tree that came from JSON or YAML, which always has one.
func ToJSON(tree map[string]any) []byte {
	text, err := json.Marshal(tree)
	if err != nil {
		panic(fmt.Sprintf("writing an object as JSON: %v", err))
	}
	return text
}

// Text is the JSON that was packed.
func (p Packed) Text() []byte {
	text, err := s2.Decode(nil, p)
	if err != nil {
		panic(fmt.Sprintf("unpacking an object: %v", err))
	}
	return text
}

// Unpack gives a tree that nobody else has.
func (p Packed) Unpack() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: FromJSON(p.Text())}
}

// FromJSON reads JSON that was found to be an object when it was packed.
func FromJSON(text []byte) map[string]any {
	var tree map[string]any
	if err := utiljson.Unmarshal(text, &tree); err != nil {
		panic(fmt.Sprintf("unpacking an object: %v", err))
	}
	return tree
}
