package judge

import (
	"fmt"
	"math"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// What the API server asks of the fields that the subresource scale shows: ValidateScaleSpec and ValidateScaleStatus in
// k8s.io/apiextensions-apiserver/pkg/registry/customresource/validator.go.

// asked is what of a scale is asked for: none of its fields that is excluded. A path that is empty has none.
func asked(scale *apiextensionsv1.CustomResourceSubresourceScale, excluded crdschema.Exclusions) *apiextensionsv1.CustomResourceSubresourceScale {
	if scale == nil {
		return nil
	}
	without := func(path string) string {
		at := excluded
		for _, name := range fields(path) {
			if at.Has(name) {
				return ""
			}
			field := at[name]
			if field == nil {
				return path
			}
			at = field.Below
		}
		return path
	}
	left := &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: without(scale.SpecReplicasPath), StatusReplicasPath: without(scale.StatusReplicasPath)}
	if scale.LabelSelectorPath != nil {
		if path := without(*scale.LabelSelectorPath); path != "" {
			left.LabelSelectorPath = &path
		}
	}
	return left
}

func (j *Judge) validateScaleSpec(object *unstructured.Unstructured) field.ErrorList {
	if j.scale == nil {
		return nil
	}
	return validateReplicas(object, j.scale.SpecReplicasPath)
}

func (j *Judge) validateScaleStatus(object *unstructured.Unstructured) field.ErrorList {
	if j.scale == nil {
		return nil
	}
	problems := validateReplicas(object, j.scale.StatusReplicasPath)
	if path := j.scale.LabelSelectorPath; path != nil {
		if selector, _, err := unstructured.NestedString(object.Object, fields(*path)...); err != nil {
			problems = append(problems, field.Invalid(field.NewPath(*path), selector, err.Error()))
		}
	}
	return problems
}

func validateReplicas(object *unstructured.Unstructured, path string) field.ErrorList {
	if path == "" {
		return nil
	}
	replicas, _, err := unstructured.NestedInt64(object.Object, fields(path)...)
	switch at := field.NewPath(path); {
	case err != nil:
		return field.ErrorList{field.Invalid(at, replicas, err.Error())}
	case replicas < 0:
		return field.ErrorList{field.Invalid(at, replicas, "should be a non-negative integer")}
	case replicas > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, replicas, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}

// fields are the names in a path such as .spec.replicas.
func fields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
