package judge

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// Prune takes out of an object what the definition does not know, and gives the paths of what it took, sorted by the order of
// fields: of the object itself all but its status, if that is a subresource, and of an update of the status only that. It leaves
// what the live definition has its objects keep, and what is stored already with that value (before is nil on a creation).
func (j *Judge) Prune(now, before map[string]any, live *Kept, subresource string) (pruned []string) {
	known := runtime.DeepCopyJSON(now)
	pruning.Prune(known, j.structural, true)
	var olds []any
	if before != nil {
		olds = []any{before}
	}
	p := pruner{paths: &pruned}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		isStatus := name == Status
		if subresource == Status != isStatus && (isStatus && j.hasStatus || subresource == Status) {
			continue
		}
		p.field(name, now, known, olds, live.whole())
	}
	return pruned
}

// pruner takes out of a value what the library took out of a copy of it, unless that is to stay.
type pruner struct {
	path  string
	paths *[]string
}

func (p pruner) at(path string) pruner { return pruner{path: path, paths: p.paths} }

func (p pruner) value(now, known any, olds []any, live part) {
	switch now := now.(type) {
	case map[string]any:
		known, _ := known.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			p.field(name, now, known, olds, live)
		}
	case []any:
		known, _ := known.([]any)
		old := newItems(olds, live.keys(), len(now))
		for i := range now {
			p.at(p.path+"["+strconv.Itoa(i)+"]").value(now[i], known[i], old.of(now[i], i), live.items())
		}
	}
}

func (p pruner) field(name string, in, known map[string]any, olds []any, live part) {
	at := p.at(p.path + "." + name)
	if p.path == "" {
		at.path = name
	}
	value, old := in[name], fieldOf(olds, name)
	if kept, ok := known[name]; ok {
		at.value(value, kept, old, live.field(name))
		return
	}
	if !live.keeps(name, value) && at.unknown(value, old) {
		delete(in, name)
		*p.paths = append(*p.paths, at.path)
	}
}

// unknown says that nothing of an unknown value is to stay. Of an object, it takes out what is not stored already.
func (p pruner) unknown(value any, olds []any) bool {
	if slices.ContainsFunc(olds, func(old any) bool { return equality.Semantic.DeepEqual(old, value) }) {
		return false
	}
	object, ok := value.(map[string]any)
	if !ok {
		return true
	}
	var taken []string
	inner := pruner{paths: &taken}
	left := maps.Clone(object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := inner.at(p.path + "." + name)
		if at.unknown(object[name], fieldOf(olds, name)) {
			delete(left, name)
			taken = append(taken, at.path)
		}
	}
	if len(left) == 0 {
		return true
	}
	for name := range object {
		if _, ok := left[name]; !ok {
			delete(object, name)
		}
	}
	*p.paths = append(*p.paths, taken...)
	return false
}

// fieldOf are the values of a field in all that may be what is stored.
func fieldOf(olds []any, name string) (values []any) {
	for _, old := range olds {
		if object, ok := old.(map[string]any); ok {
			if value, ok := object[name]; ok {
				values = append(values, value)
			}
		}
	}
	return values
}

// items are the items of the lists that may be what is stored.
type items struct {
	lists  [][]any
	keys   []string
	length int            // of the list that is written
	same   map[string]any // by JSON
}

func newItems(olds []any, keys []string, length int) *items {
	s := &items{keys: keys, length: length, same: map[string]any{}}
	for _, old := range olds {
		list, ok := old.([]any)
		if !ok {
			continue
		}
		s.lists = append(s.lists, list)
		for _, item := range list {
			s.same[s.identity(item)] = item
		}
	}
	return s
}

// of are the items that an item may be stored as: the one with its keys, or one that is equal, or those in its place, counted from
// the beginning and from the end.
func (s *items) of(item any, i int) (olds []any) {
	if old, ok := s.same[s.identity(item)]; ok {
		return []any{old}
	}
	if len(s.keys) > 0 {
		return nil
	}
	for _, list := range s.lists {
		for _, k := range []int{i, i + len(list) - s.length} {
			if k >= 0 && k < len(list) {
				olds = append(olds, list[k])
			}
		}
	}
	return olds
}

// identity tells items apart: by their keys, if they have some, or by all that they have.
func (s *items) identity(item any) string {
	if object, ok := item.(map[string]any); ok && len(s.keys) > 0 {
		keys := make([]any, 0, len(s.keys))
		for _, key := range s.keys {
			keys = append(keys, object[key])
		}
		item = keys
	}
	text, err := json.Marshal(item)
	if err != nil {
		return ""
	}
	return string(text)
}
