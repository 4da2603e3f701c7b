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
	cuts := cutsOf(now, known)
	for _, name := range cuts.names() {
		isStatus := name == Status
		if subresource == Status != isStatus && (isStatus && j.hasStatus || subresource == Status) {
			continue
		}
		p.field(name, now, cuts.fields[name], olds, live.whole())
	}
	return pruned
}

// cuts are what the library took out of a value. A nil one is nothing.
type cuts struct {
	whole  bool // the value itself, and none of the below
	fields map[string]*cuts
	items  map[int]*cuts
}

// cutsOf compares a value with what the library left of it. Only where something was taken out anything more is done: what is
// stored is looked up level by level, and an object may have thousands of levels where everything is known.
func cutsOf(now, known any) *cuts {
	var c cuts
	switch now := now.(type) {
	case map[string]any:
		known, _ := known.(map[string]any)
		for name, value := range now {
			inner := &cuts{whole: true}
			if kept, ok := known[name]; ok {
				inner = cutsOf(value, kept)
			}
			if inner == nil {
				continue
			}
			if c.fields == nil {
				c.fields = map[string]*cuts{}
			}
			c.fields[name] = inner
		}
	case []any:
		known, _ := known.([]any)
		for i := range now {
			inner := cutsOf(now[i], known[i])
			if inner == nil {
				continue
			}
			if c.items == nil {
				c.items = map[int]*cuts{}
			}
			c.items[i] = inner
		}
	}
	if len(c.fields) == 0 && len(c.items) == 0 {
		return nil
	}
	return &c
}

func (c *cuts) names() []string {
	if c == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.fields))
}

// pruner takes out of a value what the library took out of a copy of it, unless that is to stay.
type pruner struct {
	path  string
	paths *[]string
}

func (p pruner) at(path string) pruner { return pruner{path: path, paths: p.paths} }

func (p pruner) value(now any, cut *cuts, olds []any, live part) {
	switch now := now.(type) {
	case map[string]any:
		for _, name := range cut.names() {
			p.field(name, now, cut.fields[name], olds, live)
		}
	case []any:
		old := newItems(olds, live.keys(), len(now))
		for _, i := range slices.Sorted(maps.Keys(cut.items)) {
			p.at(p.path+"["+strconv.Itoa(i)+"]").value(now[i], cut.items[i], old.of(now[i], i), live.items())
		}
	}
}

func (p pruner) field(name string, in map[string]any, cut *cuts, olds []any, live part) {
	at := p.at(p.path + "." + name)
	if p.path == "" {
		at.path = name
	}
	value, old := in[name], fieldOf(olds, name)
	if !cut.whole {
		at.value(value, cut, old, live.field(name))
		return
	}
	if !live.keeps(name, value) && at.unknown(value, old, live.field(name)) {
		delete(in, name)
		*p.paths = append(*p.paths, at.path)
	}
}

// unknown says that nothing of an unknown value is to stay. Of an object of which something is, it takes out what neither is
// stored already nor is to be kept.
func (p pruner) unknown(value any, olds []any, live part) bool {
	object, ok := value.(map[string]any)
	if !ok || len(object) == 0 {
		return !slices.ContainsFunc(olds, func(old any) bool { return equality.Semantic.DeepEqual(old, value) })
	}
	names := slices.Sorted(maps.Keys(object))
	goes, below := map[string]bool{}, map[string][]string{}
	for _, name := range names {
		var taken []string
		inner := pruner{path: p.path + "." + name, paths: &taken}
		if inner.unknown(object[name], fieldOf(olds, name), live.field(name)) {
			goes[name] = true
		}
		below[name] = taken
	}
	if len(goes) == len(object) {
		return true
	}
	for _, name := range names {
		if goes[name] && !live.keeps(name, object[name]) {
			delete(object, name)
			*p.paths = append(*p.paths, p.path+"."+name)
		}
		*p.paths = append(*p.paths, below[name]...)
	}
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
// the beginning and from the end, of few lists: in lists inside each other there would be more with each level.
func (s *items) of(item any, i int) (olds []any) {
	if old, ok := s.same[s.identity(item)]; ok {
		return []any{old}
	}
	if len(s.keys) > 0 {
		return nil
	}
	for _, list := range s.lists[:min(len(s.lists), 2)] {
		for _, k := range slices.Compact([]int{i, i + len(list) - s.length}) {
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
