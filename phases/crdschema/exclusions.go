package crdschema

import (
	"fmt"
	"slices"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Exclusions are the excluded fields of a version as a tree: a path walks the names of properties, and through the items of
// lists without saying so. A nil one excludes nothing.
type Exclusions map[string]*Excluded

// Excluded is a field on the way to one that is excluded, or that one.
type Excluded struct {
	Whole bool       // the field and all below it
	Below Exclusions // otherwise
}

// exclusions gives the excluded fields of each selected version.
func exclusions(crd *apiextensionsv1.CustomResourceDefinition, selected []string, fields []requirementsv1alpha1.APIExcludedField, path *field.Path) (excluded map[string]Exclusions, problems field.ErrorList) {
	excluded = map[string]Exclusions{}
	for i, f := range fields {
		at := path.Index(i)
		versions := f.Versions
		if len(versions) == 0 {
			for _, version := range selected {
				versions = append(versions, requirementsv1alpha1.APIVersionString(version))
			}
		}
		if slices.ContainsFunc(fields[:i], func(other requirementsv1alpha1.APIExcludedField) bool { return other.Path == f.Path }) {
			problems = append(problems, field.Duplicate(at.Child("path"), f.Path))
		}
		for k, version := range versions {
			name := string(version)
			switch {
			case slices.Contains(versions[:k], version):
				problems = append(problems, field.Duplicate(at.Child("versions").Index(k), name))
			case !slices.Contains(selected, name):
				problems = append(problems, field.Invalid(at.Child("versions").Index(k), name, "the version is not selected: requiredVersions selects "+strings.Join(selected, ", ")))
			default:
				if err := walks(versionOf(crd, name).Schema.OpenAPIV3Schema, f.Path); err != nil {
					problems = append(problems, field.Invalid(at.Child("path"), f.Path, fmt.Sprintf("in version %s %v", name, err)))
					continue
				}
				if excluded[name] == nil {
					excluded[name] = Exclusions{}
				}
				excluded[name].add(strings.Split(f.Path, "."))
			}
		}
	}
	return excluded, problems
}

// walks says where a path leaves the schema.
func walks(schema *apiextensionsv1.JSONSchemaProps, path string) error {
	names := strings.Split(path, ".")
	for i, name := range names {
		for schema.Items != nil && schema.Items.Schema != nil {
			schema = schema.Items.Schema
		}
		next, ok := schema.Properties[name]
		if !ok {
			above := strings.Join(names[:i], ".")
			if schema.AdditionalProperties != nil {
				return fmt.Errorf("%q is a map, and a path does not lead into its values", above)
			}
			return fmt.Errorf("there is no field %q", strings.Join(names[:i+1], "."))
		}
		schema = &next
	}
	return nil
}

func (e Exclusions) add(names []string) {
	at := e[names[0]]
	if at == nil {
		at = &Excluded{}
		e[names[0]] = at
	}
	if len(names) == 1 {
		at.Whole = true
		return
	}
	if at.Below == nil {
		at.Below = Exclusions{}
	}
	at.Below.add(names[1:])
}

// Has says whether a field is excluded with all below it.
func (e Exclusions) Has(name string) bool { return e[name] != nil && e[name].Whole }

// below are the exclusions inside a field.
func (e Exclusions) below(name string) Exclusions {
	if e[name] == nil {
		return nil
	}
	return e[name].Below
}
