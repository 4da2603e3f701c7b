// Package compatibility watches what the machine compatibility looks at and fires it, and keeps what all requirements
// share. It decides nothing: there is no question about the state here.
package compatibility

import (
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

// Part is what the machine compatibility brings to the house.
var Part = options.Part{
	Name: table.Table.Name, Add: Add, Kinds: kinds, ClusterOperator: phases.ClusterOperator,
	View: &view.View{Table: tableView, Instances: instances, Look: look},
}

// served is told when the API of requirements may be about to be served.
var served house.Arrival

func kinds(o options.Options) []house.Kind {
	checker := []client.ObjectKey{{Namespace: o.OperatorNamespace, Name: phases.Service}}
	return []house.Kind{
		{
			Version: requirementsv1alpha1.GroupVersion, Object: &requirementsv1alpha1.CompatibilityRequirement{},
			List: &requirementsv1alpha1.CompatibilityRequirementList{}, Optional: true, Busy: true, Arrival: &served, Keep: withoutData,
		},
		{Version: apiextensionsv1.SchemeGroupVersion, Object: &apiextensionsv1.CustomResourceDefinition{}, List: &apiextensionsv1.CustomResourceDefinitionList{}, Uncached: true},
		{Version: apiextensionsv1.SchemeGroupVersion, Object: phases.CRDMetadata(), List: &metav1.PartialObjectMetadataList{}, Keep: slim},
		{
			Version: admissionregistrationv1.SchemeGroupVersion, Object: &admissionregistrationv1.ValidatingWebhookConfiguration{},
			List: &admissionregistrationv1.ValidatingWebhookConfigurationList{}, Keep: phases.KeepOurs,
		},
		{
			Version: admissionregistrationv1.SchemeGroupVersion, Object: &admissionregistrationv1.MutatingWebhookConfiguration{},
			List: &admissionregistrationv1.MutatingWebhookConfigurationList{}, Keep: phases.KeepOurs,
		},
		{
			Version: discoveryv1.SchemeGroupVersion, Object: &discoveryv1.EndpointSlice{}, List: &discoveryv1.EndpointSliceList{}, Namespaced: true,
			Only: []client.ObjectKey{{Namespace: o.OperatorNamespace}},
		},
		{
			Version: appsv1.SchemeGroupVersion, Object: &appsv1.Deployment{}, List: &appsv1.DeploymentList{}, Namespaced: true,
			Only: append(checker, client.ObjectKey{Namespace: o.OperatorNamespace, Name: phases.Second}),
		},
		{Version: policyv1.SchemeGroupVersion, Object: &policyv1.PodDisruptionBudget{}, List: &policyv1.PodDisruptionBudgetList{}, Namespaced: true, Only: checker},
		{Version: configv1.GroupVersion, Object: &configv1.Infrastructure{}, List: &configv1.InfrastructureList{}},
		{
			Version: configv1.GroupVersion, Object: &configv1.ClusterOperator{}, List: &configv1.ClusterOperatorList{},
			Only: []client.ObjectKey{{Name: phases.ClusterOperator}},
		},
	}
}

// withoutData leaves out what is too large to be kept for each of many requirements; it is read when it is needed.
func withoutData(o client.Object) {
	withoutManagers(o)
	if r, is := o.(*requirementsv1alpha1.CompatibilityRequirement); is {
		r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = ""
		delete(r.Annotations, corev1.LastAppliedConfigAnnotation)
	}
}

func withoutManagers(o client.Object) { o.SetManagedFields(nil) }

// slim leaves of metadata what tells one version of a definition from another.
func slim(o client.Object) {
	withoutManagers(o)
	o.SetAnnotations(nil)
	o.SetLabels(nil)
}
