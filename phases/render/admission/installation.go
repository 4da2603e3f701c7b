package admission

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

// Installation is what the policies are about.
type Installation struct {
	// Namespace is the operator's, and ServiceAccount what it runs as there.
	Namespace, ServiceAccount string
	// Policy is what images may contain; its exceptions play no part.
	Policy *policy.Policy
	// ReleaseManager is the user that brings the list of images.
	ReleaseManager string
}

// Shipped is the installation that deploy/ and the payload bring.
var Shipped = Installation{
	Namespace: "openshift-cluster-api-operator", ServiceAccount: "capstan",
	Policy:         &policy.Policy{Namespaces: []string{"openshift-cluster-api"}},
	ReleaseManager: "system:serviceaccount:openshift-cluster-version:cluster-version-operator",
}

// The ConfigMaps of the operator's namespace that people and releases write.
const (
	imagesConfigMap     = "capi-installer-images"
	exceptionsConfigMap = "capi-installer-exceptions"
	trustedConfigMap    = "boot-images-trusted"
)

// interveneVerb is the verb on ClusterAPI cluster that lets a person write what only the installer or a release may.
const interveneVerb = "intervene"

// operator is the user that the operator is.
func (i Installation) operator() string {
	return "system:serviceaccount:" + i.Namespace + ":" + i.ServiceAccount
}

// Objects are all policies, each followed by its binding.
func (i Installation) Objects() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, p := range []bound{
		i.writes(), i.contents(), i.exceptions(), i.clusterRoles(), i.roles(), i.status(), i.bookkeeping(), i.release(),
		i.acts(), i.namespace(), i.tokens(),
	} {
		objects = append(objects, plain(p.policy()), plain(p.binding()))
	}
	return objects
}

// bound is a policy with what binds it.
type bound struct {
	name        string
	description string
	match       admissionregistrationv1.MatchResources
	conditions  []admissionregistrationv1.MatchCondition
	variables   []admissionregistrationv1.Variable
	validations []admissionregistrationv1.Validation
	params      *admissionregistrationv1.ParamKind
	ref         *admissionregistrationv1.ParamRef
}

func (b bound) policy() *admissionregistrationv1.ValidatingAdmissionPolicy {
	fail := admissionregistrationv1.Fail
	for i := range b.validations {
		forbidden := metav1.StatusReasonForbidden
		b.validations[i].Reason = &forbidden
	}
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: b.name, Annotations: map[string]string{"kubernetes.io/description": b.description}},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail, ParamKind: b.params, MatchConstraints: &b.match, MatchConditions: b.conditions,
			Variables: b.variables, Validations: b.validations,
		},
	}
}

func (b bound) binding() *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: b.name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: b.name, ParamRef: b.ref, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}

// plain is an object without the fields that are the API server's to write.
func plain(typed any) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		panic(err) // the types are the API's own
	}
	delete(content, "status")
	if metadata, is := content["metadata"].(map[string]any); is {
		delete(metadata, "creationTimestamp")
	}
	return &unstructured.Unstructured{Object: content}
}

// rule matches operations on resources.
func rule(groups, resources []string, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.NamedRuleWithOperations {
	return admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: groups, APIVersions: []string{"*"}, Resources: resources},
	}}
}

// matching matches what rules do, of objects that a selector takes.
func matching(objects *metav1.LabelSelector, rules ...admissionregistrationv1.NamedRuleWithOperations) admissionregistrationv1.MatchResources {
	return admissionregistrationv1.MatchResources{ObjectSelector: objects, ResourceRules: rules}
}

// labelled selects by a label that has to be there, or has not.
func labelled(key string, operator metav1.LabelSelectorOperator) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator}}}
}
