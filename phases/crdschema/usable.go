package crdschema

import (
	"fmt"
	"slices"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unusable says what a definition lacks to be compared with another at all. What an API server would refuse beyond that, the
// room strict tells: it links the storage of API servers.
func unusable(crd *apiextensionsv1.CustomResourceDefinition, data *field.Path) (problems field.ErrorList) {
	refuse := func(path, format string, arguments ...any) {
		problems = append(problems, unreadable(data, fmt.Errorf(path+": "+format, arguments...)))
	}
	if kind := crd.GroupVersionKind(); kind != apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		refuse("kind", "must be CustomResourceDefinition in %s, and is %q in %q", apiextensionsv1.SchemeGroupVersion, crd.Kind, crd.APIVersion)
	}
	if crd.Spec.Group == "" {
		refuse("spec.group", "must be set")
	}
	if crd.Spec.Names.Plural == "" {
		refuse("spec.names.plural", "must be set")
	}
	if crd.Spec.Names.Kind == "" {
		refuse("spec.names.kind", "must be set")
	}
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != want {
		refuse("metadata.name", "must be %q, and is %q", want, crd.Name)
	} else if wrong := utilvalidation.IsDNS1123Subdomain(crd.Name); len(wrong) > 0 {
		refuse("metadata.name", "%q: %s", crd.Name, strings.Join(wrong, ", "))
	}
	if crd.Spec.Scope != apiextensionsv1.ClusterScoped && crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
		refuse("spec.scope", "must be %s or %s, and is %q", apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped, crd.Spec.Scope)
	}
	if why := Untargetable(crd.Name); why != "" {
		refuse("metadata.name", "%s", why)
	}
	var stored []string
	var all cost
	for i, version := range crd.Spec.Versions {
		all.addVersion(&crd.Spec.Versions[i], field.NewPath("spec", "versions").Index(i))
		if slices.ContainsFunc(crd.Spec.Versions[:i], func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version.Name }) {
			refuse(fmt.Sprintf("spec.versions[%d].name", i), "%q is there twice", version.Name)
		}
		if wrong := utilvalidation.IsDNS1035Label(version.Name); len(wrong) > 0 {
			refuse(fmt.Sprintf("spec.versions[%d].name", i), "%q: %s", version.Name, strings.Join(wrong, ", "))
		}
		if version.Storage {
			stored = append(stored, version.Name)
		}
	}
	if beyond := all.beyond(); beyond != "" {
		refuse("spec.versions", "together they have %s", beyond)
	}
	for _, problem := range all.problems {
		problems = append(problems, unreadable(data, problem))
	}
	if len(stored) != 1 {
		refuse("spec.versions", "exactly one version must have storage: true, and %d have it", len(stored))
	}
	return problems
}

// selectVersions gives the versions that a requirement selects, sorted.
func selectVersions(crd *apiextensionsv1.CustomResourceDefinition, versions requirementsv1alpha1.APIVersions, path *field.Path) (selected []string, problems field.ErrorList) {
	selection := versions.DefaultSelection
	for _, version := range crd.Spec.Versions {
		if selection == requirementsv1alpha1.APIVersionSetTypeStorageOnly && version.Storage ||
			selection == requirementsv1alpha1.APIVersionSetTypeAllServed && version.Served {
			selected = append(selected, version.Name)
		}
	}
	switch {
	case selection != requirementsv1alpha1.APIVersionSetTypeStorageOnly && selection != requirementsv1alpha1.APIVersionSetTypeAllServed:
		problems = append(problems, field.NotSupported(path.Child("defaultSelection"), selection, []requirementsv1alpha1.APIVersionSelectionType{
			requirementsv1alpha1.APIVersionSetTypeStorageOnly, requirementsv1alpha1.APIVersionSetTypeAllServed,
		}))
	case len(selected) == 0:
		problems = append(problems, field.Invalid(path.Child("defaultSelection"), selection, "the definition serves no version"))
	case selection == requirementsv1alpha1.APIVersionSetTypeAllServed && len(versions.AdditionalVersions) > 0:
		problems = append(problems, field.Forbidden(path.Child("additionalVersions"), "may not be set with defaultSelection AllServed"))
	}
	for i, version := range versions.AdditionalVersions {
		at, name := path.Child("additionalVersions").Index(i), string(version)
		if slices.Contains(versions.AdditionalVersions[:i], version) {
			problems = append(problems, field.Duplicate(at, name))
		}
		if versionOf(crd, name) == nil {
			problems = append(problems, field.Invalid(at, name, "the definition has no such version"))
		}
		selected = append(selected, name)
	}
	slices.Sort(selected)
	return slices.Compact(selected), problems
}

// versionOf is nil if the definition has no version of that name.
func versionOf(crd *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == name {
			return &crd.Spec.Versions[i]
		}
	}
	return nil
}

// uncompiled says which selected versions have no structural schema.
func uncompiled(crd *apiextensionsv1.CustomResourceDefinition, selected []string, data *field.Path) (problems field.ErrorList) {
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if !slices.Contains(selected, version.Name) {
			continue
		}
		path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			problems = append(problems, unreadable(data, fmt.Errorf("%s: must be set", path)))
			continue
		}
		structural, err := Structural(version.Schema)
		if err != nil {
			problems = append(problems, unreadable(data, fmt.Errorf("%s: %w", path, err)))
			continue
		}
		for _, problem := range structuralschema.ValidateStructural(path, structural) {
			if len(problems) == maxProblems {
				return problems
			}
			problems = append(problems, unreadable(data, problem))
		}
	}
	return problems
}

// Structural is the structural schema of a version. It shares nothing with the argument that anything changes.
func Structural(schema *apiextensionsv1.CustomResourceValidation) (*structuralschema.Structural, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(schema, internal, nil); err != nil {
		return nil, fmt.Errorf("converting the schema: %w", err)
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("making the schema structural: %w", err)
	}
	return structural, nil
}
