package packaging

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// protection is the policy, with its binding, that forbids deleting the cluster's
// own infrastructure resource, and the CRD of that resource.
type protection struct {
	crd     string
	objects []*unstructured.Unstructured
	// open are the singular names of infrastructure clusters when none is protected.
	open []string
}

// protect makes the protection of the resource with the singular name, such as
// awscluster; without a name there is none.
func protect(objects []*unstructured.Unstructured, singular string) (*protection, error) {
	var found *unstructured.Unstructured
	var clusters, open []string
	for _, object := range objects {
		if !isCRD(object) {
			continue
		}
		switch name := singularOf(object); {
		case singular == "" && strings.HasSuffix(object.GetName(), "clusters.infrastructure.cluster.x-k8s.io"):
			open = append(open, name)
		case name == singular && found != nil:
			return nil, fmt.Errorf("--protect-cluster-resource %s is ambiguous: it is the singular name of %s and of %s", singular, found.GetName(), object.GetName())
		case name == singular:
			found = object
		case strings.HasSuffix(name, "cluster"):
			clusters = append(clusters, name)
		}
	}
	if singular == "" {
		return &protection{open: open}, nil
	}
	if found == nil {
		slices.Sort(clusters)
		return nil, fmt.Errorf("--protect-cluster-resource %s: no CustomResourceDefinition has this singular name; those of clusters are: %s",
			singular, cmp.Or(strings.Join(clusters, ", "), "none"))
	}
	group, _, _ := unstructured.NestedString(found.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(found.Object, "spec", "names", "plural")
	return &protection{crd: found.GetName(), objects: policies("openshift-cluster-api-protect-"+singular, group, plural)}, nil
}

// singularOf returns the singular name of a CRD's kind, by default that of the API server.
func singularOf(crd *unstructured.Unstructured) string {
	singular, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "singular")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return cmp.Or(singular, strings.ToLower(kind))
}

// policies returns a policy and its binding. They refuse too much rather than too
// little: without Infrastructure cluster, or its name, nothing can be deleted.
func policies(name, group, plural string) []*unstructured.Unstructured {
	policy := map[string]any{
		"apiVersion": admission + "/v1",
		"kind":       "ValidatingAdmissionPolicy",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"failurePolicy": "Fail",
			"paramKind":     map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure"},
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"apiGroups":   []any{group},
				"apiVersions": []any{"*"},
				"operations":  []any{"DELETE"},
				"resources":   []any{plural},
			}}},
			"validations": []any{map[string]any{
				"expression": "oldObject.metadata.name != params.status.infrastructureName",
				"message":    "this is the infrastructure of the cluster itself (its name is status.infrastructureName of Infrastructure cluster): it must not be deleted",
				"reason":     "Forbidden",
			}},
		},
	}
	binding := map[string]any{
		"apiVersion": admission + "/v1",
		"kind":       "ValidatingAdmissionPolicyBinding",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"policyName":        name,
			"validationActions": []any{"Deny"},
			"paramRef":          map[string]any{"name": "cluster", "parameterNotFoundAction": "Deny"},
			"matchResources": map[string]any{"namespaceSelector": map[string]any{
				"matchLabels": map[string]any{namespaceName: Namespace},
			}},
		},
	}
	return []*unstructured.Unstructured{{Object: policy}, {Object: binding}}
}
