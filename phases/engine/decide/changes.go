package decide

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Change is one field that differs between two copies of an object. From or To is nil where there is no such field; of a
// Secret both are nil, since nobody tells what is in one.
type Change struct {
	Path     string // as managedFields spell it, such as .spec.replicas
	From, To any
	Managers []string // who else holds the field in the first copy
	Added    bool     // the field is new
	Removed  bool     // it goes
}

// Changes are what people would call different in two copies of one object: not its status, nor what the API server and the
// engine say of it themselves. Items of lists are paired as the API server pairs them, by what managedFields tell of both.
func Changes(before, after *unstructured.Unstructured, us Identity) []Change {
	c := changes{own: ownershipOf(before, us), secret: isSecret(before)}
	c.walk(nil, shapeOf(before, after), told(before), told(after))
	return c.found
}

// Told is an object without its status and what the API server and the engine say of it themselves.
func Told(o *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: told(o)}
}

func told(o *unstructured.Unstructured) map[string]any {
	body := shallow(o.Object)
	delete(body, "status")
	meta := shallow(body["metadata"])
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"} {
		delete(meta, field)
	}
	for field, marks := range map[string][]string{"labels": {ManagedByLabel}, "annotations": {RevisionAnnotation, OwnerAnnotation}} {
		left := shallow(meta[field])
		for _, mark := range marks {
			delete(left, mark)
		}
		if meta[field] = left; len(left) == 0 {
			delete(meta, field)
		}
	}
	body["metadata"] = meta
	return body
}

func isSecret(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == "" && o.GetKind() == "Secret"
}

// shapeOf is what all managers of both copies hold, which says how lists are made up.
func shapeOf(copies ...*unstructured.Unstructured) *fieldpath.Set {
	shape := &fieldpath.Set{}
	for _, o := range copies {
		for _, entry := range o.GetManagedFields() {
			if fields := fieldsOf(entry); fields != nil {
				shape = shape.Union(fields)
			}
		}
	}
	return shape
}

type changes struct {
	own    ownership
	secret bool
	found  []Change
}

func (c *changes) note(path fieldpath.Path, from, to any, had, has bool) {
	change := Change{Path: path.String(), From: from, To: to, Added: !had, Removed: !has, Managers: c.own.owners(missing{path: path})}
	if c.secret {
		change.From, change.To = nil, nil
	}
	c.found = append(c.found, change)
}

func (c *changes) walk(path fieldpath.Path, shape *fieldpath.Set, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if wasMap && isMap {
		names := map[string]bool{}
		for name := range was {
			names[name] = true
		}
		for name := range is {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			from, had := was[name]
			to, has := is[name]
			c.pair(path, shape, fieldpath.FieldNameElement(name), from, to, had, has)
		}
		return
	}
	had, wasList := before.([]any)
	has, isList := after.([]any)
	if wasList && isList && c.lists(path, shape, had, has) {
		return
	}
	c.note(path, before, after, true, true)
}

func (c *changes) pair(path fieldpath.Path, shape *fieldpath.Set, at fieldpath.PathElement, from, to any, had, has bool) {
	if had && has {
		c.walk(extend(path, at), below(shape, at), from, to)
		return
	}
	c.note(extend(path, at), from, to, had, has)
}

// below is what a set holds of an element.
func below(shape *fieldpath.Set, at fieldpath.PathElement) *fieldpath.Set {
	if children, deeper := shape.Children.Get(at); deeper {
		return children
	}
	return &fieldpath.Set{}
}

// lists compares two lists item by item, and says no if they can only be told as a whole.
func (c *changes) lists(path fieldpath.Path, shape *fieldpath.Set, before, after []any) bool {
	pairs, can := paired(shape, before, after)
	if !can {
		return false
	}
	for _, p := range pairs {
		c.pair(path, shape, p.at, itemAt(before, p.before), itemAt(after, p.after), p.before >= 0, p.after >= 0)
	}
	return true
}

func itemAt(list []any, i int) any {
	if i < 0 {
		return nil
	}
	return list[i]
}

// pairOf is an item of either of two lists or of both; -1 for the one that does not have it.
type pairOf struct {
	at            fieldpath.PathElement
	before, after int
}

// paired pairs the items of two lists: by their keys, or as a set, where the API server does; else by name, if all have one of
// their own, or by place, if they are as many objects.
func paired(shape *fieldpath.Set, before, after []any) ([]pairOf, bool) {
	name, can := elementsOf(shape)
	if !can {
		name, can = byName, named(before) && named(after)
	}
	if can {
		if pairs, unique := pairedBy(name, before, after); unique {
			return pairs, true
		}
	}
	if len(before) != len(after) || !allMaps(before) || !allMaps(after) {
		return nil, false
	}
	var pairs []pairOf
	for i := range before {
		pairs = append(pairs, pairOf{fieldpath.MakePathOrDie(i)[0], i, i})
	}
	return pairs, true
}

// elementsOf says how a list's items are told from each other, by the elements that a set has of it, and no if they are not.
func elementsOf(shape *fieldpath.Set) (name func(any) (fieldpath.PathElement, bool), can bool) {
	for _, element := range elements(shape) {
		switch {
		case element.Key != nil:
			var keys []string
			for _, key := range *element.Key {
				keys = append(keys, key.Name)
			}
			return func(item any) (fieldpath.PathElement, bool) { return byKeys(item, keys) }, true
		case element.Value != nil:
			return byValue, true
		}
	}
	return nil, false
}

func byKeys(item any, keys []string) (fieldpath.PathElement, bool) {
	fields, isMap := item.(map[string]any)
	var found value.FieldList
	for _, key := range keys {
		if v, has := fields[key]; has && scalar(v) {
			found = append(found, value.Field{Name: key, Value: value.NewValueInterface(v)})
		}
	}
	return fieldpath.PathElement{Key: &found}, isMap && len(found) > 0
}

func byName(item any) (fieldpath.PathElement, bool) { return byKeys(item, []string{"name"}) }

func byValue(item any) (fieldpath.PathElement, bool) {
	v := value.NewValueInterface(item)
	return fieldpath.PathElement{Value: &v}, scalar(item)
}

func named(list []any) bool {
	for _, item := range list {
		fields, _ := item.(map[string]any)
		if name, is := fields["name"].(string); !is || name == "" {
			return false
		}
	}
	return true
}

func allMaps(list []any) bool {
	return !slices.ContainsFunc(list, func(item any) bool { _, isMap := item.(map[string]any); return !isMap })
}

// pairedBy pairs items that have the same name, and says no if one has none, or two of a list have the same.
func pairedBy(name func(any) (fieldpath.PathElement, bool), before, after []any) ([]pairOf, bool) {
	var pairs []pairOf
	index := map[string]int{}
	for i, item := range before {
		at, is := name(item)
		if _, again := index[at.String()]; !is || again {
			return nil, false
		}
		index[at.String()] = len(pairs)
		pairs = append(pairs, pairOf{at, i, -1})
	}
	for i, item := range after {
		at, is := name(item)
		if !is {
			return nil, false
		}
		known, has := index[at.String()]
		switch {
		case !has:
			index[at.String()] = len(pairs)
			pairs = append(pairs, pairOf{at, -1, i})
		case pairs[known].after >= 0:
			return nil, false
		default:
			pairs[known].after = i
		}
	}
	return pairs, true
}
