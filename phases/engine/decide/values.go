package decide

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	quantity "k8s.io/apimachinery/pkg/api/resource"
)

// covers says whether all desired values are in the actual ones. What is there besides (defaults, other managers'
// fields and items) never counts, and an empty value may be absent, because the server drops many of them.
func covers(desired, actual any) bool {
	switch w := desired.(type) {
	case map[string]any:
		there, isMap := actual.(map[string]any)
		for name, v := range w {
			if !covers(v, there[name]) {
				return false
			}
		}
		return isMap || empty(w) && empty(actual)
	case []any:
		there, isList := actual.([]any)
		for i, item := range w {
			if !anyCovers(item, there, i) {
				return false
			}
		}
		return isList || empty(w) && empty(actual)
	}
	return equalScalar(desired, actual) || empty(desired) && empty(actual)
}

// anyCovers looks at the item of the same index first, because lists rarely change their order.
func anyCovers(item any, there []any, i int) bool {
	if i < len(there) && covers(item, there[i]) {
		return true
	}
	return slices.ContainsFunc(there, func(a any) bool { return covers(item, a) })
}

// differing is the path of the first desired value, in order of names, that is not in the actual ones.
func differing(path string, desired, actual any) string {
	switch w := desired.(type) {
	case map[string]any:
		there, _ := actual.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if !covers(w[name], there[name]) {
				return differing(path+"."+name, w[name], there[name])
			}
		}
	case []any:
		there, _ := actual.([]any)
		for i, item := range w {
			if !anyCovers(item, there, i) {
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
