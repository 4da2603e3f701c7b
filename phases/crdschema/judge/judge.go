package judge

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// Judge is what the API server makes of a version of a definition. It may be asked by several goroutines at once.
type Judge struct {
	kind       schema.GroupVersionKind
	namespaced bool
	hasStatus  bool // as a subresource
	scale      *apiextensionsv1.CustomResourceSubresourceScale
	structural *structuralschema.Structural
	schema     apiservervalidation.SchemaValidator
	status     apiservervalidation.SchemaValidator // nil without a schema of status
	cel        *cel.Validator                      // nil without rules
}

// Compile makes a judge of a selected version of a need. A panic of a library is a [crdschema.PanicError].
func Compile(n *crdschema.Need, version string) (judge *Judge, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			judge, err = nil, fmt.Errorf("compiling the schema of version %s: %w", version, crdschema.Panicked(cause))
		}
	}()
	crd := n.CRD()
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == version {
			return compile(crd, &crd.Spec.Versions[i], n.Exclusions(version))
		}
	}
	return nil, fmt.Errorf("compiling version %s: the definition has no such version", version)
}

// compile does what the API server does when it begins to serve a version: getOrCreateServingInfoFor in
// k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
func compile(crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion, excluded crdschema.Exclusions) (*Judge, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("compiling the schema: there is none")
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, internal, nil); err != nil {
		return nil, fmt.Errorf("converting the schema: %w", err)
	}
	judge := &Judge{
		kind:       schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind},
		namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	if version.Subresources != nil {
		judge.hasStatus, judge.scale = version.Subresources.Status != nil, asked(version.Subresources.Scale, excluded)
	}
	props := internal.OpenAPIV3Schema
	exclude(props, excluded)
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("making the schema structural: %w", err)
	}
	judge.structural = structural.DeepCopy()
	if err := structuraldefaulting.PruneDefaults(judge.structural); err != nil {
		return nil, fmt.Errorf("pruning defaults: %w", err)
	}
	if judge.schema, _, err = apiservervalidation.NewSchemaValidator(props); err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	if status, ok := props.Properties["status"]; ok {
		if judge.status, _, err = apiservervalidation.NewSchemaValidator(&status); err != nil {
			return nil, fmt.Errorf("compiling the schema of status: %w", err)
		}
	}
	if len(excluded) > 0 {
		if err := dropRules(judge.structural); err != nil {
			return nil, err
		}
	}
	judge.cel = cel.NewValidator(judge.structural, true, celconfig.PerCallLimit)
	return judge, nil
}
