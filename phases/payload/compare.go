package payload

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// compare adds a problem for each field that an install-config gives another value than the installer's state. The state may
// say more, since the installer has filled in defaults.
func compare(config, state string, given, settled map[string]any, problems *InputsError) {
	for _, field := range differing("", given, settled) {
		problems.add(config+", field "+field, "it differs from the same field of the install-config in %s; "+
			"make them agree, or remove one of the two keys", state)
	}
}

// differing returns the paths at which a tree says something else than another one.
func differing(at string, given, settled any) []string {
	if isNothing(given) && isNothing(settled) {
		return nil
	}
	switch given := given.(type) {
	case map[string]any:
		settled, is := settled.(map[string]any)
		if !is {
			return []string{at}
		}
		var found []string
		for _, name := range slices.Sorted(maps.Keys(given)) {
			found = append(found, differing(join(at, name), given[name], settled[name])...)
		}
		return found
	case []any:
		settled, is := settled.([]any)
		if !is || len(settled) != len(given) {
			return []string{at}
		}
		var found []string
		for i := range given {
			found = append(found, differing(fmt.Sprintf("%s[%d]", at, i), given[i], settled[i])...)
		}
		return found
	case string:
		if settled, is := settled.(string); is && strings.TrimSpace(settled) == strings.TrimSpace(given) {
			return nil
		}
		return []string{at}
	}
	if reflect.DeepEqual(given, settled) {
		return nil
	}
	return []string{at}
}

// isNothing is true of a value that is as good as absent.
func isNothing(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(value)), func(inner any) bool { return !isNothing(inner) })
	case []any:
		return len(value) == 0
	}
	return reflect.ValueOf(value).IsZero()
}

var fieldName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// join names a field of a field. What does not look like a name is not told.
func join(at, name string) string {
	if !fieldName.MatchString(name) {
		name = "(a key with other characters than names have)"
	}
	if at == "" {
		return name
	}
	return at + "." + name
}
