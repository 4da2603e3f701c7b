package decide

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// VersionsOf are the entries of spec.versions of a CRD.
func VersionsOf(crd *unstructured.Unstructured) []map[string]any {
	all, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	list, _ := all.([]any)
	var out []map[string]any
	for _, v := range list {
		if m, isMap := v.(map[string]any); isMap {
			out = append(out, m)
		}
	}
	return out
}

// Instance says that an object is one of a CRD's instances, as far as kinds tell. Without a CRD there is none.
func Instance(crd *unstructured.Unstructured, key Key) bool {
	if crd == nil {
		return false
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return key.Group == group && key.Kind == kind
}

// InstancesOf is the resource of a CRD's instances.
func InstancesOf(crd *unstructured.Unstructured, version string) schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// ServedVersions are the versions in which instances can be read, the stored one first.
func ServedVersions(crd *unstructured.Unstructured) []string {
	var names []string
	for _, version := range VersionsOf(crd) {
		switch {
		case version["served"] != true:
		case version["storage"] == true:
			names = slices.Insert(names, 0, text(version["name"]))
		default:
			names = append(names, text(version["name"]))
		}
	}
	return names
}

// ReadableVersion is a version in which instances can be read, empty if there is none.
func ReadableVersion(crd *unstructured.Unstructured) string {
	if served := ServedVersions(crd); len(served) > 0 {
		return served[0]
	}
	return ""
}
