package decide

import (
	"slices"
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
		if specOf(obj)["type"] == "LoadBalancer" {
			return 1
		}
	}
	return 0
}

var services = schema.GroupResource{Resource: "services"}

// Trial is the body of a trial of creating the object in the place of one that is there. An API server looks at ports
// before it asks policies and webhooks, so a Service is tried without those that it has already.
func (m *Manifest) Trial(s Stamp, actual *unstructured.Unstructured) []byte {
	if !isService(actual) {
		return m.Body(s, "")
	}
	trial := m.Desired(s).Payload
	spec := specOf(trial)
	if spec["healthCheckNodePort"] == specOf(actual)["healthCheckNodePort"] {
		delete(spec, "healthCheckNodePort")
	}
	has := nodePortsOf(actual)
	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		fields, _ := port.(map[string]any)
		if number, _ := fields["nodePort"].(int64); slices.Contains(has, number) {
			delete(fields, "nodePort")
		}
	}
	return ToJSON(trial.Object)
}

// StrangeAddress is a cluster IP that a Service asks for and the one that is there does not have. Whether another Service
// has it, no trial tells.
func (m *Manifest) StrangeAddress(actual *unstructured.Unstructured) string {
	if !isService(actual) {
		return ""
	}
	has := addressesOf(actual)
	for _, address := range addressesOf(m.packed.Unpack()) {
		if !slices.Contains(has, address) {
			return address
		}
	}
	return ""
}

func isService(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == "" && o.GetKind() == "Service"
}

func addressesOf(service *unstructured.Unstructured) []string {
	spec := specOf(service)
	all, _ := spec["clusterIPs"].([]any)
	var found []string
	for _, one := range append([]any{spec["clusterIP"]}, all...) {
		if address, _ := one.(string); address != "" && address != "None" {
			found = append(found, address)
		}
	}
	return found
}

// nodePortsOf are the node ports that the ports of a Service have.
func nodePortsOf(service *unstructured.Unstructured) []int64 {
	var found []int64
	ports, _ := specOf(service)["ports"].([]any)
	for _, port := range ports {
		fields, _ := port.(map[string]any)
		if number, _ := fields["nodePort"].(int64); number != 0 {
			found = append(found, number)
		}
	}
	return found
}

func specOf(o *unstructured.Unstructured) map[string]any {
	fields, _ := o.Object["spec"].(map[string]any)
	return fields
}
