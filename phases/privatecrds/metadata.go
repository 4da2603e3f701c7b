package privatecrds

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// prefix is what tells cluster-scoped objects whose name holds no group from those of the platform's Cluster API.
	prefix = "private-"
	// injectCA has OpenShift's service CA write the bundle for the shim's certificate.
	injectCA = "service.beta.openshift.io/inject-cabundle"
	// installer is the domain of what the installer knows its own objects by.
	installer = "capi-operator.openshift.io/"
)

// clean takes off what would have clusterctl, cert-manager or the installer take the object for one of theirs. Labels that name versions of the
// contract stay: providers and the shim read them, by keys that no proxy translates.
func clean(object *unstructured.Unstructured) {
	labels := object.GetLabels()
	maps.DeleteFunc(labels, func(key, _ string) bool {
		return key == "cluster.x-k8s.io/provider" || key == "clusterctl.cluster.x-k8s.io" || strings.HasPrefix(key, "clusterctl.cluster.x-k8s.io/") ||
			strings.HasPrefix(key, installer)
	})
	set(object, labels, "metadata", "labels")
	annotations := object.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		return domain == "cert-manager.io" || strings.HasSuffix(domain, ".cert-manager.io") || key == injectCA || strings.HasPrefix(key, installer)
	})
	set(object, annotations, "metadata", "annotations")
}

// injected has the service CA write its bundle into the object.
func injected(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[injectCA] = "true"
	object.SetAnnotations(annotations)
}

// set sets a map, or takes the field away where the map is empty.
func set(object *unstructured.Unstructured, values map[string]string, fields ...string) {
	if len(values) == 0 {
		unstructured.RemoveNestedField(object.Object, fields...)
		return
	}
	texts := make(map[string]any, len(values))
	for key, value := range values {
		texts[key] = value
	}
	// An object that has metadata has it as a map.
	_ = unstructured.SetNestedMap(object.Object, texts, fields...)
}
