package decide

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// boundBy is the identity of what a binding puts into force: the role that it gives to somebody, or the admission policy
// that it enforces. It is empty for objects that are no bindings.
func boundBy(obj *unstructured.Unstructured) Key {
	key := KeyOf(obj)
	kind, isBinding := strings.CutSuffix(key.Kind, "Binding")
	if !isBinding {
		return Key{}
	}
	bound := Key{Group: key.Group}
	switch key.Group {
	case "rbac.authorization.k8s.io":
		bound.Kind, _, _ = unstructured.NestedString(obj.Object, "roleRef", "kind")
		bound.Name, _, _ = unstructured.NestedString(obj.Object, "roleRef", "name")
		if bound.Kind == "Role" {
			bound.Namespace = key.Namespace
		}
	case "admissionregistration.k8s.io":
		bound.Kind = kind
		bound.Name, _, _ = unstructured.NestedString(obj.Object, "spec", "policyName")
	default:
		return Key{}
	}
	return bound
}
