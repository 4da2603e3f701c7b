package decide

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// differ compares a field set with desired content. No schema is needed: the field set, which the API server wrote
// with the schema at hand, says which lists are keyed, which are sets and which are whole.
type differ struct {
	missing []missing        // desired, but not in the set
	extra   []fieldpath.Path // in the set, but not desired any more
	dots    []fieldpath.Path // entries of a map's own besides its fields, as creates record them and applies do not
	blank   []fieldpath.Path // desired empty and not in the set, as applies record it and creates do not
}

// none says that the set is that of the desired content.
func (d differ) none() bool { return len(d.missing)+len(d.extra) == 0 }

// missing is a desired field that is not in a field set. For an item of a list, path is the list and item its content,
// because the key of the item is not known.
type missing struct {
	path fieldpath.Path
	item any
}

// unmanagedFields are never part of a field set.
var unmanagedFields = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"),
)

// driftOf compares an object with our Apply entry on it.
func driftOf(applied *fieldpath.Set, payload, actual *unstructured.Unstructured) differ {
	d := differ{}
	d.walk(nil, applied, payload.Object, actual.Object)
	return d
}

// walk compares one level; desired is a map or a list with content, actual is what is there (any type).
func (d *differ) walk(path fieldpath.Path, owned *fieldpath.Set, desired, actual any) {
	switch w := desired.(type) {
	case map[string]any:
		there, _ := actual.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(w)) {
			element := fieldpath.FieldNameElement(name)
			d.field(extend(path, element), owned, element, w[name], there[name])
		}
		for _, element := range elements(owned) {
			if element.FieldName == nil {
				d.extra = append(d.extra, extend(path, element))
			} else if _, known := w[*element.FieldName]; !known {
				d.extra = append(d.extra, extend(path, element))
			}
		}
	case []any:
		d.items(path, owned, w, actual)
	}
}

func (d *differ) field(path fieldpath.Path, owned *fieldpath.Set, element fieldpath.PathElement, desired, actual any) {
	if len(path) <= 2 && unmanagedFields.Has(path) {
		return
	}
	member := owned.Members.Has(element)
	children, deeper := owned.Children.Get(element)
	_, isMap := desired.(map[string]any)
	switch {
	case deeper && !empty(desired) && !scalar(desired):
		if member && element.FieldName != nil {
			d.dots = append(d.dots, path)
		}
		d.walk(path, children, desired, actual)
	case member && isMap && !empty(desired) && !covers(desired, actual):
		// A map of which others have taken every field looks in managedFields like one that is ours as a whole.
		d.walk(path, &fieldpath.Set{}, desired, actual)
	case member || deeper: // the whole value is ours
	case empty(desired) && empty(actual):
		d.blank = append(d.blank, path)
	default:
		if isMap && !empty(desired) {
			d.walk(path, &fieldpath.Set{}, desired, actual) // names the very fields
			return
		}
		d.missing = append(d.missing, missing{path: path})
	}
}

// items pairs the items of a list with the elements of the set. Key fields that a manifest leaves to defaults match
// anything, so exact matches go first.
func (d *differ) items(path fieldpath.Path, owned *fieldpath.Set, desired []any, actual any) {
	left := elements(owned)
	there, _ := actual.([]any)
	paired := make([]*fieldpath.PathElement, len(desired))
	for _, exact := range [...]bool{true, false} {
		for i, item := range desired {
			if paired[i] != nil {
				continue
			}
			at := slices.IndexFunc(left, func(e fieldpath.PathElement) bool { return selects(e, i, item, exact) })
			if at >= 0 {
				element := left[at]
				paired[i] = &element
				left = slices.Delete(left, at, at+1)
			}
		}
	}
	for i, item := range desired {
		if paired[i] == nil {
			d.missing = append(d.missing, missing{path: path, item: item})
			continue
		}
		at := slices.IndexFunc(there, func(a any) bool { return selects(*paired[i], i, a, true) })
		var found any
		if at >= 0 {
			found = there[at]
		}
		d.field(extend(path, *paired[i]), owned, *paired[i], item, found)
	}
	for _, element := range left {
		d.extra = append(d.extra, extend(path, element))
	}
}

// selects says whether an element of a field set stands for the item at index i. Unless exact, key fields that the
// item does not have match.
func selects(element fieldpath.PathElement, i int, item any, exact bool) bool {
	switch {
	case element.Key != nil:
		fields, isMap := item.(map[string]any)
		for _, key := range *element.Key {
			v, given := fields[key.Name]
			if !given && !exact {
				continue
			}
			if !given || !equalScalar(v, key.Value.Unstructured()) {
				return false
			}
		}
		return isMap
	case element.Value != nil:
		return value.Equals(*element.Value, value.NewValueInterface(item))
	case element.Index != nil:
		return *element.Index == i
	}
	return false
}

// ownedIn says whether a field set holds the missing field, the whole of a value around it, or something below it.
func (m missing) ownedIn(fields *fieldpath.Set) bool {
	at := fields
	for i, element := range m.path {
		children, deeper := at.Children.Get(element)
		if !deeper {
			return at.Members.Has(element)
		}
		at = children
		if i == len(m.path)-1 && m.item == nil {
			return true
		}
	}
	return slices.ContainsFunc(elements(at), func(e fieldpath.PathElement) bool { return selects(e, -1, m.item, false) })
}

func (m missing) String() string { return m.path.String() }

// elements are the direct entries of a set, in order.
func elements(s *fieldpath.Set) []fieldpath.PathElement {
	all := fieldpath.PathElementSet{}
	s.Members.Iterate(all.Insert)
	s.Children.Iterate(all.Insert)
	var out []fieldpath.PathElement
	all.Iterate(func(e fieldpath.PathElement) { out = append(out, e) })
	return out
}

func extend(path fieldpath.Path, element fieldpath.PathElement) fieldpath.Path {
	return append(slices.Clip(path), element)
}

func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
