package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func versionsOf(crd *unstructured.Unstructured) []map[string]any {
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

// instancesOf is the resource of a CRD's instances.
func instancesOf(crd *unstructured.Unstructured, version string) schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// servedVersions are the versions in which instances can be read, the stored one first.
func servedVersions(crd *unstructured.Unstructured) []string {
	var names []string
	for _, version := range versionsOf(crd) {
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

func readable(crd *unstructured.Unstructured) string {
	if served := servedVersions(crd); len(served) > 0 {
		return served[0]
	}
	return ""
}
