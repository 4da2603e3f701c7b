package packaging

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Namespace is where OpenShift runs every Cluster API provider.
const Namespace = "openshift-cluster-api"

// Groups of the kinds that packaging knows.
const (
	admission     = "admissionregistration.k8s.io"
	apiextensions = "apiextensions.k8s.io"
	certManager   = "cert-manager.io"
	rbac          = "rbac.authorization.k8s.io"
)

// transformations are the packaging rules. Certificates are read before they
// are dropped, and namespaces while they still have their old names.
var transformations = []func([]*unstructured.Unstructured) error{
	useServiceCA,
	moveToNamespace,
	limitWebhooks,
	fitDeployments,
	dropUsers,
	refuseForeignImages,
	stripNoise,
}

// Transform fits a provider's objects to OpenShift and returns them sorted by
// group, kind, namespace and name. The input is left as it is. Errors about one
// field are a *FieldError, several of which may be joined.
func Transform(input []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	objects := make([]*unstructured.Unstructured, len(input))
	for i, object := range input {
		objects[i] = object.DeepCopy()
	}
	sortObjects(objects) // so that errors, too, do not depend on the order of the input
	for _, transform := range transformations {
		if err := transform(objects); err != nil {
			return nil, err
		}
	}
	objects = slices.DeleteFunc(objects, isDropped)
	if len(objects) == 0 {
		return nil, fmt.Errorf("no object is left to install: the kustomization gives none, or only kinds that are dropped")
	}
	sortObjects(objects)
	return objects, refuseDuplicates(objects)
}

// isDropped reports whether OpenShift itself provides an object: the namespace,
// credentials and serving certificates.
func isDropped(object *unstructured.Unstructured) bool {
	switch group := object.GroupVersionKind().Group; group {
	case "":
		return object.GetKind() == "Namespace" || object.GetKind() == "Secret"
	default:
		return group == certManager || strings.HasSuffix(group, "."+certManager)
	}
}

// isKind compares group and kind; all versions of a kind are packaged alike.
func isKind(object *unstructured.Unstructured, group, kind string) bool {
	actual := object.GroupVersionKind()
	return actual.Group == group && actual.Kind == kind
}

func isWebhookConfiguration(object *unstructured.Unstructured) bool {
	return isKind(object, admission, "MutatingWebhookConfiguration") || isKind(object, admission, "ValidatingWebhookConfiguration")
}

func isCRD(object *unstructured.Unstructured) bool {
	return isKind(object, apiextensions, "CustomResourceDefinition")
}

func isBinding(object *unstructured.Unstructured) bool {
	return isKind(object, rbac, "RoleBinding") || isKind(object, rbac, "ClusterRoleBinding")
}

// stripNoise removes what only a running cluster can know.
func stripNoise(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		delete(object.Object, "status")
		for _, path := range []string{"metadata", "spec.template.metadata"} {
			// Not every kind has a template of pods, or any mapping, at that path.
			if metadata, found, err := root(object).child(path); err == nil && found {
				delete(metadata.fields, "creationTimestamp")
			}
		}
	}
	return nil
}
