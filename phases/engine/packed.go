package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// packed is an object as compressed JSON. A CustomResourceDefinition of 70 KB takes 700 KB as a tree of maps and 10 KB
// so; the tree is made when a decision or a write needs it, and dropped after it.
type packed []byte

var packing sync.Pool // of *[]byte, room to compress into

func pack(text []byte) packed {
	room, used := packing.Get().(*[]byte)
	if !used {
		room = new([]byte)
	}
	defer packing.Put(room)
	if need := s2.MaxEncodedLen(len(text)); cap(*room) < need {
		*room = make([]byte, need)
	}
	return bytes.Clone(s2.EncodeBetter((*room)[:cap(*room)], text))
}

func packObject(obj *unstructured.Unstructured) packed {
	text, err := json.Marshal(obj.Object)
	if err != nil {
		panic(fmt.Sprintf("packing %s: %v", KeyOf(obj), err)) // a tree that came from JSON or YAML always has a JSON form
	}
	return pack(text)
}

// unpack gives a tree that nobody else has.
func (p packed) unpack() *unstructured.Unstructured {
	text, err := s2.Decode(nil, p)
	obj := &unstructured.Unstructured{}
	if err == nil {
		err = utiljson.Unmarshal(text, &obj.Object)
	}
	if err != nil {
		panic(fmt.Sprintf("unpacking an object: %v", err)) // what was packed was JSON
	}
	return obj
}
