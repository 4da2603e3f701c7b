//go:build private

package private_test

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// laterVersion is newer than what any of the managers knows, so that discovery prefers it.
const laterVersion = "v1beta3"

// addVersion gives every standard definition of the core one version more, as a later release of the platform would, and waits
// until it is served.
func addVersion(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := api.List(ctx, all); err != nil {
		return fmt.Errorf("listing definitions: %w", err)
	}
	added := 0
	for i := range all.Items {
		definition := &all.Items[i]
		if definition.Spec.Group != standardGroup {
			continue
		}
		stored := slices.IndexFunc(definition.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
		later := *definition.Spec.Versions[stored].DeepCopy()
		later.Name, later.Storage = laterVersion, false
		definition.Spec.Versions = append(definition.Spec.Versions, later)
		// The version is the stored one by another name, and no manager could convert it.
		definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		if err := api.Update(ctx, definition); err != nil {
			return fmt.Errorf("adding a version to %s: %w", definition.Name, err)
		}
		if err := harness.Eventually(ctx, definition.Name+" to be served in its later version", func(ctx context.Context) error {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(standardGroup + "/" + laterVersion)
			list.SetKind(definition.Spec.Names.ListKind)
			return api.List(ctx, list)
		}); err != nil {
			return err
		}
		added++
	}
	if added == 0 {
		return fmt.Errorf("there is no definition in %s", standardGroup)
	}
	return nil
}
