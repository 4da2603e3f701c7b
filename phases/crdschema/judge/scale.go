package judge

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What the API server asks of the fields that the subresource scale shows: ValidateScaleSpec and ValidateScaleStatus in
// k8s.io/apiextensions-apiserver/pkg/registry/customresource/validator.go.

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
