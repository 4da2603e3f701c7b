package decide

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// schemaNode is what the API server keeps of a value at one place of a custom resource, by the schema of one version:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
type schemaNode struct {
	schema   map[string]any // nil: nothing is specified
	open     bool           // fields that the schema does not name are kept, whatever it says itself
	resource bool           // apiVersion, kind and metadata are the API server's own
}

// schemaNodeOf is the shape of whole objects of one version, false when the CRD does not have the version.
func schemaNodeOf(crd *unstructured.Unstructured, version string) (schemaNode, bool) {
	preserve, _, _ := unstructured.NestedBool(crd.Object, "spec", "preserveUnknownFields")
	for _, v := range VersionsOf(crd) {
		if v["name"] == version {
			schema, _, _ := unstructured.NestedFieldNoCopy(v, "schema", "openAPIV3Schema")
			root, _ := schema.(map[string]any)
			return schemaNode{schema: root, open: preserve, resource: true}, true
		}
	}
	return schemaNode{}, false
}

func (s schemaNode) keepsUnknown() bool {
	return s.open || s.schema["x-kubernetes-preserve-unknown-fields"] == true
}

func (s schemaNode) properties() map[string]any {
	named, _ := s.schema["properties"].(map[string]any)
	return named
}

// field is the shape of one field, false when the field is pruned.
func (s schemaNode) field(name string) (schemaNode, bool) {
	if s.resource || s.schema["x-kubernetes-embedded-resource"] == true {
		switch name {
		case "apiVersion", "kind", "metadata":
			return schemaNode{open: true}, true
		}
	}
	if named, given := s.properties()[name].(map[string]any); given {
		return schemaNode{schema: named}, true
	}
	return s.unnamed()
}

// unnamed is the shape of fields that have no schema of their own, false when they are pruned.
func (s schemaNode) unnamed() (schemaNode, bool) {
	if rest, given := s.schema["additionalProperties"]; given {
		schema, _ := rest.(map[string]any)
		return schemaNode{schema: schema}, true
	}
	return schemaNode{open: true}, s.keepsUnknown()
}

func (s schemaNode) item() schemaNode {
	items, _ := s.schema["items"].(map[string]any)
	return schemaNode{schema: items, open: s.keepsUnknown()}
}

// nothing says that no field is kept here.
func (s schemaNode) nothing() bool { return !s.open && len(s.schema) == 0 }

// narrowedPaths lists the places where the new shape may keep less than the old one, or refuse values that it took. It
// says more rather than less: whether live objects lose anything is for losses to say.
func narrowedPaths(path string, before, after schemaNode) []string {
	if before.nothing() || reflect.DeepEqual(before, after) {
		return nil
	}
	var found []string
	if stricter(before.schema, after.schema) {
		found = append(found, path)
	}
	if after.nothing() {
		return append(found, path+".*")
	}
	names := shallow(before.properties())
	maps.Copy(names, after.properties())
	for _, name := range slices.Sorted(maps.Keys(names)) {
		found = append(found, narrowedField(path+"."+name, name, before, after)...)
	}
	if rest, kept := before.unnamed(); kept {
		if now, still := after.unnamed(); still {
			found = append(found, narrowedPaths(path+".*", rest, now)...)
		} else {
			found = append(found, path+".*")
		}
	}
	return append(found, narrowedPaths(path+"[]", before.item(), after.item())...)
}

func narrowedField(path, name string, before, after schemaNode) []string {
	was, kept := before.field(name)
	if !kept {
		return nil
	}
	is, still := after.field(name)
	if !still {
		return []string{path}
	}
	return narrowedPaths(path, was, is)
}

// stricter says whether values may be refused now for their type or because they are not in a list of choices.
func stricter(before, after map[string]any) bool {
	if now := after["type"]; now != nil && now != before["type"] && (now != "number" || before["type"] != "integer") {
		return true
	}
	now, limited := after["enum"].([]any)
	if !limited {
		return false
	}
	was, _ := before["enum"].([]any)
	return len(was) == 0 || slices.ContainsFunc(was, func(v any) bool { return !among(v, now) })
}

// among compares as an enum does: 1 and 1.0 are one number, and texts are no quantities.
func among(v any, choices []any) bool {
	n, isNumber := number(v)
	return slices.ContainsFunc(choices, func(choice any) bool {
		m, numeric := number(choice)
		return isNumber && numeric && m == n || reflect.DeepEqual(choice, v)
	})
}

// losses are the places of a value that a schema does not keep, or refuses for their type or choice. Indices are left
// out: what is of interest is the field.
func (s schemaNode) losses(path string, value any) []string {
	if s.refuses(value) {
		return []string{path}
	}
	var found []string
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if child, kept := s.field(name); kept {
				found = append(found, child.losses(path+"."+name, v[name])...)
			} else {
				found = append(found, path+"."+name)
			}
		}
	case []any:
		for _, item := range v {
			found = append(found, s.item().losses(path+"[]", item)...)
		}
	}
	return slices.Compact(found)
}

func (s schemaNode) refuses(value any) bool {
	if choices, limited := s.schema["enum"].([]any); limited && value != nil && !among(value, choices) {
		return true
	}
	typed, given := s.schema["type"].(string)
	if !given || value == nil {
		return false
	}
	is := "string"
	switch v := value.(type) {
	case map[string]any:
		is = "object"
	case []any:
		is = "array"
	case bool:
		is = "boolean"
	case int64:
		is = "integer"
	case float64:
		if is = "number"; v == float64(int64(v)) {
			is = "integer"
		}
	}
	return is != typed && (is != "integer" || typed != "number")
}

// SchemaLoss is what an update of a CRD would take away.
type SchemaLoss struct {
	Stored      []string // versions that objects may be stored in, and that would not exist any more
	Served      []string // all versions served now, none of which would be served any more
	Unconverted []string // versions that objects may be stored in, and that no webhook would convert any more
	Versions    []VersionLoss
}

// VersionLoss is a version whose objects would be kept by a narrower schema.
type VersionLoss struct {
	Version       string // in which they can be read now
	before, after schemaNode
	fields        []string // where; a star stands for fields that the schema does not name
}

// None says that the update takes nothing away.
func (n SchemaLoss) None() bool {
	return len(n.Stored)+len(n.Served)+len(n.Unconverted)+len(n.Versions) == 0
}

// SchemaLossOf compares a CRD of the cluster with the one that is to replace it. A schema is compared with the one of
// the same version, and, where objects are to be stored in another version without a webhook to convert them, the
// stored version's with the new one's.
func SchemaLossOf(actual, desired *unstructured.Unstructured) SchemaLoss {
	var n SchemaLoss
	storedAs, servedStill := "", false
	is := map[string]map[string]any{}
	for _, v := range VersionsOf(desired) {
		is[text(v["name"])] = v
		if v["storage"] == true {
			storedAs = text(v["name"])
		}
	}
	stored, _, _ := unstructured.NestedStringSlice(actual.Object, "status", "storedVersions")
	for _, version := range stored {
		if is[version] == nil {
			n.Stored = append(n.Stored, version)
		}
	}
	converts := convertsByWebhook(desired)
	if convertsByWebhook(actual) && !converts {
		// Without it the API server relabels what is stored, and drops what the other version does not have.
		n.Unconverted = slices.DeleteFunc(slices.Clone(stored), func(version string) bool { return version == storedAs || is[version] == nil })
	}
	for _, v := range VersionsOf(actual) {
		version := text(v["name"])
		if v["served"] != true {
			continue
		}
		n.Served = append(n.Served, version)
		servedStill = servedStill || is[version]["served"] == true
		n.compare(actual, desired, version, version)
		if v["storage"] == true && version != storedAs && !converts {
			n.compare(actual, desired, version, storedAs)
		}
	}
	if servedStill {
		n.Served = nil
	}
	return n
}

func convertsByWebhook(crd *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy")
	return strategy == "Webhook"
}

func (n *SchemaLoss) compare(actual, desired *unstructured.Unstructured, from, to string) {
	before, _ := schemaNodeOf(actual, from)
	after, there := schemaNodeOf(desired, to)
	if !there {
		return
	}
	if fields := narrowedPaths("", before, after); len(fields) > 0 {
		n.Versions = append(n.Versions, VersionLoss{Version: from, before: before, after: after, fields: fields})
	}
}

// LostFrom are the fields of an object that the update would take from it.
func (n VersionLoss) LostFrom(obj *unstructured.Unstructured) []string {
	already := n.before.losses("", obj.Object)
	lost := slices.DeleteFunc(n.after.losses("", obj.Object), func(path string) bool { return slices.Contains(already, path) })
	for i, path := range lost {
		lost[i] = strings.TrimPrefix(path, ".")
	}
	return lost
}
