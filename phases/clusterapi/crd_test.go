package clusterapi

import (
	"context"
	"os"
	"sync"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// clusterAPICRD is the real CustomResourceDefinition of ClusterAPI, with its CEL rules.
const clusterAPICRD = "../../crds/manifests/0000_30_cluster-api_01_clusterapis.crd.yaml"

// apiRules are what the API server checks a write of a ClusterAPI against.
type apiRules struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	cel        *cel.Validator
}

var loadRules = sync.OnceValues(func() (*apiRules, error) {
	text, err := os.ReadFile(clusterAPICRD)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, err
	}
	props := &apiextensions.JSONSchemaProps{}
	err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil)
	if err != nil {
		return nil, err
	}
	rules := &apiRules{}
	if rules.structural, err = structuralschema.NewStructural(props); err != nil {
		return nil, err
	}
	if rules.schema, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	rules.cel = cel.NewValidator(rules.structural, true, celconfig.PerCallLimit)
	return rules, nil
})

// refusal is why the API server would refuse to replace before by after; no reason is empty.
func (r *apiRules) refusal(ctx context.Context, before, after *operatorv1alpha1.ClusterAPI) string {
	was, errWas := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
	is, errIs := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if errWas != nil || errIs != nil {
		return "it has no JSON form"
	}
	// Before the first write there is no status at all.
	if equality.Semantic.DeepEqual(before.Status, operatorv1alpha1.ClusterAPIStatus{}) {
		delete(was, "status")
	}
	errs := validation.ValidateCustomResourceUpdate(nil, is, was, r.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, is)...)
	rules, _ := r.cel.Validate(ctx, nil, r.structural, is, was, celconfig.RuntimeCELCostBudget)
	if errs = append(errs, rules...); len(errs) > 0 {
		return errs.ToAggregate().Error()
	}
	return ""
}
