package private_test

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	// They are megabytes, which a busy API server may not bring to an end in time.
	if err := harness.Eventually(ctx, "definitions", func(ctx context.Context) error { return api.List(ctx, all) }); err != nil {
		return err
	}
	added := 0
	for i := range all.Items {
		name := all.Items[i].Name
		if all.Items[i].Spec.Group != standardGroup {
			continue
		}
		if err := harness.Eventually(ctx, name+" to have a later version", func(ctx context.Context) error { return addLater(ctx, name) }); err != nil {
			return err
		}
		if err := harness.Eventually(ctx, name+" to be served in its later version", func(ctx context.Context) error {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(standardGroup + "/" + laterVersion)
			list.SetKind(all.Items[i].Spec.Names.ListKind)
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

// addLater gives a definition the later version, unless it has it.
func addLater(ctx context.Context, name string) error {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := api.Get(ctx, client.ObjectKey{Name: name}, definition); err != nil {
		return err
	}
	versions := definition.Spec.Versions
	if slices.ContainsFunc(versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == laterVersion }) {
		return nil
	}
	stored := slices.IndexFunc(versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	later := *versions[stored].DeepCopy()
	later.Name, later.Storage = laterVersion, false
	definition.Spec.Versions = append(definition.Spec.Versions, later)
	// The version is the stored one by another name, and no manager could convert it.
	definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	return api.Update(ctx, definition)
}
