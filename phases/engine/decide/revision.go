package decide

import (
	"runtime"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/parallel"
)

// Revision is the full set of objects that one release content stands for. It is read only: neither the engine nor
// the caller changes it once it was handed over, and a number stands for one content for ever.
type Revision struct {
	Name       string
	Number     int64 // >= 1, never used for another content
	ContentID  string
	Components []Component // in order of installation
	Unmanaged  []string    // names of CRDs that are never applied, updated or deleted
	// Listed is what the inventory proves it by: a fingerprint of how the revision was listed; empty for nothing.
	Listed string
	// Partial says that components are missing here which the content has. Such a revision can only be kept, and only
	// where an inventory says what the whole of it is.
	Partial bool
}

// Component is one installable part of a revision; its objects may come in any order.
type Component struct {
	Name    string
	Objects []*unstructured.Unstructured

	packed []*Manifest // those that came before Objects
}

// Packed is the component with its objects compressed, which makes them tens of times smaller. It is for callers that
// keep a revision: the objects themselves can then be dropped.
func (c Component) Packed() Component { return Component{Name: c.Name, packed: c.Manifests()} }

// Keys are the keys of all objects of the component, in the order in which they were given.
func (c Component) Keys() []Key {
	keys := make([]Key, 0, len(c.packed)+len(c.Objects))
	for _, m := range c.packed {
		keys = append(keys, m.Key)
	}
	for _, obj := range c.Objects {
		keys = append(keys, KeyOf(obj))
	}
	return keys
}

// Object is a copy of one object of the revision, as it is sent but for our marks; nil if there is none of that key.
func (r *Revision) Object(key Key) *unstructured.Unstructured {
	for _, c := range r.Components {
		for _, m := range c.packed {
			if m.Key == key {
				return m.packed.Unpack()
			}
		}
		for _, obj := range c.Objects {
			if KeyOf(obj) == key {
				return (&unstructured.Unstructured{Object: cleaned(obj.Object)}).DeepCopy()
			}
		}
	}
	return nil
}

// Manifests are the objects of the component, made ready to apply.
func (c Component) Manifests() []*Manifest {
	all := make([]*Manifest, len(c.packed)+len(c.Objects))
	copy(all, c.packed)
	parallel.Each(runtime.GOMAXPROCS(0), c.Objects, func(i int, obj *unstructured.Unstructured) {
		all[len(c.packed)+i] = manifestOf(obj)
	})
	return all
}
