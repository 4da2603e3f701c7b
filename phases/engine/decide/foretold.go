package decide

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Foretold is what an apply would make of an object, as far as it can be told without asking the API server: with what is desired,
// and without what we alone hold and is not desired any more. Defaults that the API server would fill in are not there.
func Foretold(t Desired, actual *unstructured.Unstructured, us Identity) *unstructured.Unstructured {
	after := actual.DeepCopy()
	merged, _ := merge(shapeOf(actual), t.Payload.DeepCopy().Object, after.Object).(map[string]any)
	after.Object = merged
	Shed(t, actual, after, us)
	return after
}

// Shed takes off a copy of an object what its apply removes besides: fields that we, or legacy managers, hold in the object as
// it is, that are not desired, and that nobody else holds. A dry run of an apply does not show those of legacy managers,
// whose fields become ours in a request before.
func Shed(t Desired, actual, from *unstructured.Unstructured, us Identity) {
	own := ownershipOf(actual, us)
	held := union(union(own.applied, own.created), own.legacy)
	if held == nil {
		return
	}
	for _, path := range driftOf(held, t.Payload, actual).extra {
		if len(own.owners(missing{path: path})) == 0 && !ownerReferences.Has(path) {
			remove(from.Object, path)
		}
	}
}

// merge puts desired values into actual ones, and gives back what comes of it. What is there and says the same stays.
func merge(shape *fieldpath.Set, desired, actual any) any {
	switch w := desired.(type) {
	case map[string]any:
		there, isMap := actual.(map[string]any)
		if !isMap {
			return w
		}
		for name, v := range w {
			had, has := there[name]
			if !has && zero(v) {
				continue // the API server may drop it, as it did before
			}
			there[name] = merge(below(shape, fieldpath.FieldNameElement(name)), v, had)
		}
		return there
	case []any:
		there, isList := actual.([]any)
		if !isList {
			return w
		}
		return mergeLists(shape, w, there)
	}
	if equalScalar(desired, actual) {
		return actual
	}
	return desired
}

func mergeLists(shape *fieldpath.Set, desired, actual []any) any {
	left := elements(shape)
	keyed := slices.ContainsFunc(left, func(e fieldpath.PathElement) bool { return e.Key != nil || e.Value != nil })
	if !keyed {
		if len(desired) != len(actual) {
			return desired
		}
		for i := range actual {
			actual[i] = merge(&fieldpath.Set{}, desired[i], actual[i])
		}
		return actual
	}
	for _, item := range desired {
		element := slices.IndexFunc(left, func(e fieldpath.PathElement) bool { return selects(e, -1, item, false) })
		at := -1
		if element >= 0 {
			at = slices.IndexFunc(actual, func(a any) bool { return selects(left[element], -1, a, true) })
		}
		if at < 0 {
			actual = append(actual, item)
			continue
		}
		actual[at] = merge(below(shape, left[element]), item, actual[at])
	}
	return actual
}

// remove takes a field out of a tree, and gives back what is left of it.
func remove(tree any, path fieldpath.Path) any {
	at, last := path[0], len(path) == 1
	switch t := tree.(type) {
	case map[string]any:
		if at.FieldName == nil {
			return t
		}
		inside, has := t[*at.FieldName]
		switch {
		case !has:
		case last:
			delete(t, *at.FieldName)
		default:
			t[*at.FieldName] = remove(inside, path[1:])
		}
	case []any:
		for i, item := range t {
			switch {
			case !selects(at, i, item, true):
			case last:
				return slices.Delete(t, i, i+1)
			default:
				t[i] = remove(item, path[1:])
				return t
			}
		}
	}
	return tree
}
