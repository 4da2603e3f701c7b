package strict

import (
	"context"
	"fmt"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

// Bounds of what is told of a definition: that of an API server repeats parts of it.
const (
	maxProblems = 32
	maxText     = 1024 // bytes of each
)

// Problems is what is wrong with a requirement that is created (before is nil) or updated, each with its field. An update that
// leaves the specification alone has none. A panic of a library is one.
func Problems(ctx context.Context, now, before *requirementsv1alpha1.CompatibilityRequirement) (problems field.ErrorList) {
	if before != nil && equality.Semantic.DeepEqual(now.Spec, before.Spec) {
		return nil
	}
	data := field.NewPath("spec", "compatibilitySchema", "customResourceDefinition", "data")
	defer func() { problems = few(problems) }()
	problems = selectorProblems(&now.Spec.ObjectSchemaValidation, field.NewPath("spec", "objectSchemaValidation"))
	need, unreadable := crdschema.Read(&now.Spec)
	if need == nil {
		return append(unreadable, problems...)
	}
	for _, invalid := range definitionProblems(ctx, need.CRD()) {
		problems = append(problems, problem(data, invalid.Error()))
	}
	if was := nameBefore(before); was != "" && was != need.Name() {
		problems = append(problems, problem(data, fmt.Sprintf("metadata.name: is %s, and was %s: make another requirement for it", need.Name(), was)))
	}
	return problems
}

// definitionProblems is what the API server would refuse of a definition that is created, already defaulted.
func definitionProblems(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("converting the definition: %w", err))}
	}
	return validation.ValidateCustomResourceDefinition(ctx, internal)
}

// nameBefore is the name of the definition that a requirement had, and "" if nobody knows.
func nameBefore(before *requirementsv1alpha1.CompatibilityRequirement) string {
	if before == nil {
		return ""
	}
	if before.Status.CRDName != "" {
		return before.Status.CRDName
	}
	if need, err := crdschema.Decode(&before.Spec); err == nil {
		return need.Name()
	}
	return ""
}

// problem is one with the data, without the data.
func problem(path *field.Path, text string) *field.Error {
	return field.Invalid(path, field.OmitValueType{}, text)
}

// few cuts problems to what people can read.
func few(problems field.ErrorList) field.ErrorList {
	for _, p := range problems {
		p.Detail = message.Shorten(p.Detail, maxText)
	}
	if more := len(problems) - maxProblems; more > 0 {
		last := *problems[maxProblems-1]
		last.Detail += fmt.Sprintf(", and %d more problems", more)
		problems = append(problems[:maxProblems-1:maxProblems-1], &last)
	}
	return problems
}
