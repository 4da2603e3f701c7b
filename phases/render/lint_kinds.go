package render

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/capstan-capi/capstan/message"
)

var (
	crdKind        = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	apiServiceKind = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
)

// alwaysThere are kinds outside client-go that every OpenShift cluster has.
var alwaysThere = []schema.GroupVersionKind{
	crdKind.WithVersion("v1"),
	apiServiceKind.WithVersion("v1"),
	{Group: "apiextensions.openshift.io", Version: "v1alpha1", Kind: "CompatibilityRequirement"},
	{Group: "security.openshift.io", Version: "v1", Kind: "SecurityContextConstraints"},
}

// clusterScoped are the kinds of Kubernetes, and of alwaysThere, that have no namespace.
var clusterScoped = map[string][]string{
	"":                             {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiextensions.openshift.io":   {"CompatibilityRequirement"},
	"apiregistration.k8s.io":       {"APIService"},
	"authentication.k8s.io":        {"SelfSubjectReview", "TokenReview"},
	"authorization.k8s.io":         {"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"internal.apiserver.k8s.io":    {"StorageVersion"},
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"security.openshift.io":        {"SecurityContextConstraints"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
	"storagemigration.k8s.io":      {"StorageVersionMigration"},
}

// defined is a kind that a CustomResourceDefinition of the set serves.
type defined struct {
	by         found
	namespaced bool
}

// kinds returns the kinds that the set defines, in the versions that are served.
func (l *linter) kinds() map[schema.GroupVersionKind][]defined {
	kinds := map[schema.GroupVersionKind][]defined{}
	for _, f := range l.found {
		if !is(f.object, crdKind) {
			continue
		}
		spec := field(f.object.Object, "spec")
		gvk := schema.GroupVersionKind{Group: text(spec, "group"), Kind: text(field(spec, "names"), "kind")}
		for _, version := range list(spec, "versions") {
			if served, ok := fields(version)["served"].(bool); ok && served {
				gvk.Version = text(fields(version), "name")
				kinds[gvk] = append(kinds[gvk], defined{by: f, namespaced: text(spec, "scope") == "Namespaced"})
			}
		}
	}
	return kinds
}

// kind reports an object whose kind its cluster does not have, or whose
// namespace is not allowed.
func (l *linter) kind(f found, kinds map[schema.GroupVersionKind][]defined) {
	gvk := f.object.GroupVersionKind()
	namespaced, known := kubernetes(gvk)
	if !known {
		of := kinds[gvk]
		if i := slices.IndexFunc(of, func(d defined) bool { return reaches(d.by, f) }); i >= 0 {
			namespaced = of[i].namespaced
		} else if len(of) > 0 {
			l.report(f, "kind", "only profiles of other platforms define %s %s, so the clusters of this one would not know it (see %s)", gvk.GroupVersion(), gvk.Kind, of[0].by.at)
			namespaced = of[0].namespaced
		} else {
			l.report(f, "kind", "neither Kubernetes nor a CustomResourceDefinition of these images defines %s %s: bring its CustomResourceDefinition, or leave the object out%s",
				gvk.GroupVersion(), gvk.Kind, otherVersions(gvk, kinds))
			namespaced = f.object.GetNamespace() != ""
		}
	}
	switch namespace := f.object.GetNamespace(); {
	case !namespaced || slices.Contains(l.namespaces, namespace):
	case namespace == "":
		l.report(f, "metadata.namespace", "is missing: a %s lives in a namespace, and only %s is allowed", gvk.Kind, strings.Join(l.namespaces, ", "))
	default:
		l.report(f, "metadata.namespace", "namespace %s is not allowed, only %s is", message.Shorten(namespace, 100), strings.Join(l.namespaces, ", "))
	}
}

// otherVersions returns a hint at the served versions of a kind.
func otherVersions(gvk schema.GroupVersionKind, kinds map[schema.GroupVersionKind][]defined) string {
	var versions []string
	for other := range kinds {
		if other.GroupKind() == gvk.GroupKind() {
			versions = append(versions, other.Version)
		}
	}
	for _, gv := range clientgoscheme.Scheme.PrioritizedVersionsForGroup(gvk.Group) {
		if _, known := kubernetes(gv.WithKind(gvk.Kind)); known {
			versions = append(versions, gv.Version)
		}
	}
	if len(versions) == 0 {
		return ""
	}
	slices.Sort(versions)
	return fmt.Sprintf(" (it is served in %s)", strings.Join(slices.Compact(versions), ", "))
}

// kubernetes reports whether every cluster has a kind, and whether its objects
// have a namespace.
func kubernetes(gvk schema.GroupVersionKind) (namespaced, known bool) {
	known = slices.Contains(alwaysThere, gvk)
	if object, err := clientgoscheme.Scheme.New(gvk); err == nil {
		// Lists and options are in the scheme too.
		_, known = object.(metav1.Object)
	}
	return known && !slices.Contains(clusterScoped[gvk.Group], gvk.Kind), known
}

func is(object *unstructured.Unstructured, kind schema.GroupKind) bool {
	return object.GroupVersionKind().GroupKind() == kind
}
