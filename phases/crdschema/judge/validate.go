package judge

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Status is the subresource of that name. The other one that is judged, the object itself, is "".
const Status = "status"

// Validate is what the API server would refuse of a creation (before is nil) or an update, of the object or of its status: the
// methods Validate and ValidateUpdate of customResourceStrategy and ValidateUpdate of statusStrategy, in
// k8s.io/apiextensions-apiserver/pkg/registry/customresource, after what the API server does to an object that it reads. It
// changes neither argument. A panic of a library is one: it says nothing of the object.
func (j *Judge) Validate(ctx context.Context, now, before *unstructured.Unstructured, subresource string) field.ErrorList {
	sent, problem := j.read(now, false)
	if problem != nil {
		return field.ErrorList{problem}
	}
	if before == nil {
		if j.hasStatus {
			delete(sent.Object, Status)
		}
		return j.validateCreate(ctx, sent)
	}
	stored, problem := j.read(before, true)
	if problem != nil {
		return field.ErrorList{problem}
	}
	if subresource == Status {
		return j.validateStatus(ctx, ofStatus(sent, stored), stored)
	}
	if j.hasStatus {
		copyStatus(sent.Object, stored.Object)
	}
	return j.validateUpdate(ctx, sent, stored)
}

// read does what the API server does to an object when it decodes it: unstructuredSchemaCoercer and unstructuredDefaulter in
// k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go. What is stored is taken more leniently.
func (j *Judge) read(object *unstructured.Unstructured, stored bool) (*unstructured.Unstructured, *field.Error) {
	object = object.DeepCopy()
	meta, found, _, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{DropMalformedFields: stored})
	if err != nil {
		return nil, field.Invalid(field.NewPath("metadata"), field.OmitValueType{}, err.Error())
	}
	pruning.Prune(object.Object, j.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(object.Object, j.structural)
	if problem, _ := objectmeta.CoerceWithOptions(nil, object.Object, j.structural, false, objectmeta.CoerceOptions{DropInvalidFields: stored}); problem != nil {
		return nil, problem
	}
	if found {
		if err := objectmeta.SetObjectMeta(object.Object, meta); err != nil {
			return nil, field.Invalid(field.NewPath("metadata"), field.OmitValueType{}, err.Error())
		}
	}
	structuraldefaulting.Default(object.Object, j.structural)
	return object, nil
}

// copyStatus has an update of the object leave the status as it was.
func copyStatus(now, before map[string]any) {
	if status, ok := before[Status]; ok {
		now[Status] = status
	} else {
		delete(now, Status)
	}
}

// ofStatus has an update of the status leave the rest as it was.
func ofStatus(now, before *unstructured.Unstructured) *unstructured.Unstructured {
	object := before.DeepCopy()
	object.SetManagedFields(now.GetManagedFields())
	copyStatus(object.Object, now.Object)
	return object
}

func (j *Judge) validateCreate(ctx context.Context, object *unstructured.Unstructured) field.ErrorList {
	problems := j.validateType(object)
	if len(problems) == 0 {
		problems = append(problems, validation.ValidateObjectMetaAccessor(object, j.namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
		problems = append(problems, apiservervalidation.ValidateCustomResource(nil, object.Object, j.schema)...)
		problems = append(problems, j.validateScaleSpec(object)...)
		problems = append(problems, j.validateScaleStatus(object)...)
	}
	problems = append(problems, objectmeta.Validate(nil, object.Object, j.structural, false)...)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, j.structural, object.Object)...)
	return j.validateRules(ctx, problems, object.Object, nil)
}

func (j *Judge) validateUpdate(ctx context.Context, object, old *unstructured.Unstructured) field.ErrorList {
	correlated := common.NewCorrelatedObject(object.Object, old.Object, &model.Structural{Structural: j.structural})
	problems := j.validateType(object)
	if len(problems) == 0 {
		problems = append(problems, validation.ValidateObjectMetaAccessorUpdate(object, old, field.NewPath("metadata"))...)
		problems = append(problems, apiservervalidation.ValidateCustomResourceUpdate(nil, object.Object, old.Object, j.schema, apiservervalidation.WithRatcheting(correlated))...)
		problems = append(problems, j.validateScaleSpec(object)...)
		problems = append(problems, j.validateScaleStatus(object)...)
	}
	problems = append(problems, objectmeta.Validate(nil, object.Object, j.structural, false)...)
	problems = append(problems, j.validateLists(object, old)...)
	return j.validateRules(ctx, problems, object.Object, old.Object, cel.WithRatcheting(correlated))
}

func (j *Judge) validateStatus(ctx context.Context, object, old *unstructured.Unstructured) field.ErrorList {
	correlated := common.NewCorrelatedObject(object.Object, old.Object, &model.Structural{Structural: j.structural})
	problems := j.validateType(object)
	if len(problems) == 0 {
		problems = append(problems, validation.ValidateObjectMetaAccessorUpdate(object, old, field.NewPath("metadata"))...)
		if status, ok := object.Object[Status]; ok {
			problems = append(problems, apiservervalidation.ValidateCustomResourceUpdate(field.NewPath(Status), status, old.Object[Status], j.status, apiservervalidation.WithRatcheting(correlated.Key(Status)))...)
		}
		problems = append(problems, j.validateScaleStatus(object)...)
	}
	problems = append(problems, j.validateLists(object, old)...)
	return j.validateRules(ctx, problems, object.Object, old.Object, cel.WithRatcheting(correlated))
}

func (j *Judge) validateType(object *unstructured.Unstructured) (problems field.ErrorList) {
	if object.GetKind() != j.kind.Kind {
		problems = append(problems, field.Invalid(field.NewPath("kind"), object.GetKind(), "must be "+j.kind.Kind))
	}
	if want := j.kind.GroupVersion().String(); object.GetAPIVersion() != want {
		problems = append(problems, field.Invalid(field.NewPath("apiVersion"), object.GetAPIVersion(), "must be "+want))
	}
	return problems
}

// validateLists ratchets as a whole: lists that were wrong before may be.
func (j *Judge) validateLists(object, old *unstructured.Unstructured) field.ErrorList {
	problems := listtype.ValidateListSetsAndMaps(nil, j.structural, object.Object)
	if len(problems) == 0 || len(listtype.ValidateListSetsAndMaps(nil, j.structural, old.Object)) > 0 {
		return nil
	}
	return problems
}

// validateRules adds what rules refuse. They are not asked of an object with problems that they might stumble over.
func (j *Judge) validateRules(ctx context.Context, problems field.ErrorList, object, old map[string]any, options ...cel.Option) field.ErrorList {
	if j.cel == nil {
		return problems
	}
	for _, problem := range problems {
		switch problem.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(problems, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		default:
		}
	}
	// A nil map in an interface is not nil.
	var before any
	if old != nil {
		before = old
	}
	refused, _ := j.cel.Validate(ctx, nil, j.structural, object, before, celconfig.RuntimeCELCostBudget, options...)
	return append(problems, refused...)
}
