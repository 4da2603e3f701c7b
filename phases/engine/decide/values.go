package decide

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	quantity "k8s.io/apimachinery/pkg/api/resource"
)

// comparison says whether a desired value may be absent.
type comparison func(desired any) bool

// covers says whether all desired values are in the actual ones. What is there besides (defaults, other managers'
// fields and items) never counts, and an empty value may be absent, because the server drops many of them.
func covers(desired, actual any) bool { return comparison(empty).covers(desired, actual) }

// ownedCovers is covers where false and 0 may be absent too: the server drops them of many fields, and leaves the field to
// who applied it. Of which, only its answer to a write tells.
func ownedCovers(desired, actual any) bool { return comparison(zero).covers(desired, actual) }

func (dropped comparison) covers(desired, actual any) bool {
	switch w := desired.(type) {
	case map[string]any:
		there, isMap := actual.(map[string]any)
		for name, v := range w {
			if !dropped.covers(v, there[name]) {
				return false
			}
		}
		return isMap || empty(w) && empty(actual)
	case []any:
		there, isList := actual.([]any)
		for i, item := range w {
			if !dropped.anyCovers(item, there, i) {
				return false
			}
		}
		return isList || empty(w) && empty(actual)
	}
	return equalScalar(desired, actual) || dropped(desired) && empty(actual)
}

// zero says that a value is what a field has that nobody set.
func zero(v any) bool {
	n, isNumber := number(v)
	return empty(v) || v == false || isNumber && n == 0
}

// anyCovers looks at the item of the same index first, because lists rarely change their order.
func (dropped comparison) anyCovers(item any, there []any, i int) bool {
	if i < len(there) && dropped.covers(item, there[i]) {
		return true
	}
	return slices.ContainsFunc(there, func(a any) bool { return dropped.covers(item, a) })
}

// differing is the path of the first desired value, in order of names, that is not in the actual ones.
func (dropped comparison) differing(path string, desired, actual any) string {
	switch w := desired.(type) {
	case map[string]any:
		there, _ := actual.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if !dropped.covers(w[name], there[name]) {
				return dropped.differing(path+"."+name, w[name], there[name])
			}
		}
	case []any:
		there, _ := actual.([]any)
		for i, item := range w {
			if !dropped.anyCovers(item, there, i) {
				return path + "[" + strconv.Itoa(i) + "]"
			}
		}
	}
	return path
}

// equalScalar compares as the API server would: 1 and 1.0 are one number, "1000m" and "1" one quantity.
func equalScalar(a, b any) bool {
	if !scalar(a) || !scalar(b) {
		return false
	}
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	if x, isNumber := number(a); isNumber {
		if y, isNumber := number(b); isNumber {
			return x == y
		}
	}
	x, errX := quantity.ParseQuantity(fmt.Sprint(a))
	y, errY := quantity.ParseQuantity(fmt.Sprint(b))
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// Dropped are the fields of a payload that the API server left out of its answer to the write of it, because they are false
// or 0, by their paths in the payload. They may be absent from then on; nil means that nobody knows which may.
func Dropped(payload, answer map[string]any) map[string]bool {
	dropped := map[string]bool{}
	dropZeros("", payload, answer, dropped)
	return dropped
}

func dropZeros(path string, desired, actual any, dropped map[string]bool) {
	switch w := desired.(type) {
	case map[string]any:
		there, _ := actual.(map[string]any)
		for name, v := range w {
			dropZeros(path+"."+name, v, there[name], dropped)
		}
	case []any:
		there, _ := actual.([]any)
		for i, item := range w {
			var answered any
			if i < len(there) && comparison(zero).covers(item, there[i]) {
				answered = there[i]
			} else if at := slices.IndexFunc(there, func(a any) bool { return comparison(zero).covers(item, a) }); at >= 0 {
				answered = there[at]
			}
			dropZeros(path+"["+strconv.Itoa(i)+"]", item, answered, dropped)
		}
	default:
		if zero(w) && !empty(w) && empty(actual) {
			dropped[path] = true
		}
	}
}

// spared is a payload without the fields that the API server drops.
func spared(payload map[string]any, dropped map[string]bool) any {
	if len(dropped) == 0 {
		return payload
	}
	return sparedAt("", payload, dropped)
}

func sparedAt(path string, desired any, dropped map[string]bool) any {
	switch w := desired.(type) {
	case map[string]any:
		kept := make(map[string]any, len(w))
		for name, v := range w {
			if at := path + "." + name; !dropped[at] {
				kept[name] = sparedAt(at, v, dropped)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(w))
		for i, item := range w {
			kept[i] = sparedAt(path+"["+strconv.Itoa(i)+"]", item, dropped)
		}
		return kept
	}
	return desired
}
