package packaging

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// kustomize builds a folder as `kustomize build` does, with no plugins and no file from outside it.
func kustomize(folder string) ([]*unstructured.Unstructured, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(adaptedDisk{filesys.MakeFsOnDisk()}, folder)
	if err != nil {
		return nil, fmt.Errorf("running kustomize on %s: %w", folder, err)
	}
	objects := make([]*unstructured.Unstructured, 0, built.Size())
	for _, resource := range built.Resources() {
		// JSON keeps whole numbers whole.
		json, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("reading %s as built by kustomize on %s: %w", resource.CurId(), folder, err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(json); err != nil {
			return nil, fmt.Errorf("reading %s as built by kustomize on %s: %w", resource.CurId(), folder, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// newKinds are cluster-scoped kinds of Kubernetes that kustomize does not know yet.
var newKinds = []schema.GroupKind{
	{Group: admission, Kind: "ValidatingAdmissionPolicy"},
	{Group: admission, Kind: "ValidatingAdmissionPolicyBinding"},
	{Group: admission, Kind: "MutatingAdmissionPolicy"},
	{Group: admission, Kind: "MutatingAdmissionPolicyBinding"},
}

// isNamespaced answers for the kinds of Kubernetes itself; found is false for all others.
func isNamespaced(object *unstructured.Unstructured) (namespaced, found bool) {
	if slices.Contains(newKinds, object.GroupVersionKind().GroupKind()) {
		return false, true
	}
	return openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: object.GetAPIVersion(), Kind: object.GetKind()})
}
