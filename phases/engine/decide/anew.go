package decide

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Frees is how much of what a quota counts is free again when an object of a resource is gone, 0 when nobody knows.
func Frees(obj *unstructured.Unstructured, resource schema.GroupResource, counted string) int64 {
	switch {
	case strings.TrimPrefix(counted, "count/") == resource.String():
		return 1
	case resource != services:
		return 0
	case counted == "services.nodeports":
		return int64(len(nodePortsOf(obj)))
	case counted == "services.loadbalancers":
		if kind, _, _ := unstructured.NestedString(obj.Object, "spec", "type"); kind == "LoadBalancer" {
			return 1
		}
	}
	return 0
}

var services = schema.GroupResource{Resource: "services"}

// nodePortsOf are the node ports that the ports of a Service have.
func nodePortsOf(service *unstructured.Unstructured) []int64 {
	var found []int64
	ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
	for _, port := range ports {
		if n, _, _ := unstructured.NestedInt64(shallow(port), "nodePort"); n != 0 {
			found = append(found, n)
		}
	}
	return found
}
