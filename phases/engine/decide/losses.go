package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// losses are the places of values that one schema keeps and another does not, or refuses for their type or choice. There are
// no more of them, and they are no longer, than the schemas: indices are left out, and a star stands for every name that no
// schema has.
type losses map[string]bool

// compare notes what a value loses. What the first schema does not take as it is, it does not keep any part of.
func (l losses) compare(path string, value any, before, after schemaNode) {
	if after.keepsAll() {
		return
	}
	if after.refuses(value) {
		if !before.refuses(value) {
			l[path] = true
		}
		return
	}
	if before.refuses(value) {
		before = schemaNode{open: true}
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inside := range v {
			l.compareField(path, name, inside, before, after)
		}
	case []any:
		for _, item := range v {
			l.compare(path+"[]", item, before.item(), after.item())
		}
	}
}

func (l losses) compareField(path, name string, value any, before, after schemaNode) {
	at := path + ".*"
	if before.names(name) || after.names(name) {
		at = path + "." + name
	}
	was, kept := before.field(name)
	is, still := after.field(name)
	switch {
	case still && kept:
		l.compare(at, value, was, is)
	case still:
		l.compare(at, value, schemaNode{open: true}, is)
	case kept:
		l[at] = true
	}
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

// String says what is taken away, for people.
func (n SchemaLoss) String() string {
	var texts []string
	for what, versions := range map[string][]string{
		"stored version": n.Stored, "the last served versions": n.Served, "the conversion webhook for stored version": n.Unconverted,
	} {
		if len(versions) > 0 {
			texts = append(texts, what+" "+strings.Join(versions, ", "))
		}
	}
	for _, v := range n.Versions {
		texts = append(texts, fmt.Sprintf("of version %s %s", v.Version, strings.Join(v.fields, ", ")))
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
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

// LostFrom are the fields of an object that the update would take from it, each once. A star stands for names that no schema
// has: whoever wrote the object chose them.
func (n VersionLoss) LostFrom(obj *unstructured.Unstructured) []string {
	lost := losses{}
	lost.compare("", obj.Object, n.before, n.after)
	var fields []string
	for _, path := range slices.Sorted(maps.Keys(lost)) {
		fields = append(fields, strings.TrimPrefix(path, "."))
	}
	return fields
}
