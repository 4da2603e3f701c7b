package render

import (
	"slices"
)

// stringMaps are fields whose entries the API server keeps when they are null,
// as empty strings. Dropping one could widen a nodeSelector to every node.
var stringMaps = []string{"labels", "annotations", "matchLabels", "nodeSelector"}

// emptyForNull reports whether a null entry of the field called name means the
// empty string in objects of a kind.
func emptyForNull(kind, name string) bool {
	switch kind {
	case "CustomResourceDefinition":
		return false // such names are those of properties in its schemas
	case "ConfigMap", "Secret":
		return name == "data" || name == "stringData" || slices.Contains(stringMaps, name)
	}
	return slices.Contains(stringMaps, name)
}

// dropNulls removes fields without a value, such as creationTimestamp: null. The
// API server drops them too, so applying them would look like drift for ever.
// Nulls in lists stay.
func dropNulls(kind, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			switch {
			case field != nil:
				dropNulls(kind, key, field)
			case emptyForNull(kind, name):
				v[key] = ""
			default:
				delete(v, key)
			}
		}
	case []any:
		for _, item := range v {
			dropNulls(kind, "", item)
		}
	}
}
