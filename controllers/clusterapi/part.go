package clusterapi

import (
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// Part is what the machine clusterapi brings to the house.
var Part = options.Part{
	Name: table.Table.Name, Add: Add, Kinds: kinds, ClusterOperator: phases.ClusterOperatorName,
	View: &view.View{Table: tableView, Look: look},
}

// formerDeployments are those of the installer that OpenShift shipped before. They take one watch, as there are several in the namespace.
func formerDeployments(namespace string) []client.ObjectKey {
	var keys []client.ObjectKey
	for _, name := range phases.FormerInstallers {
		keys = append(keys, client.ObjectKey{Namespace: namespace, Name: name})
	}
	return keys
}

func kinds(o options.Options) []house.Kind {
	return []house.Kind{
		{
			Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true,
			Only: []client.ObjectKey{
				{Namespace: o.OperatorNamespace, Name: phases.ImagesConfigMap},
				{Namespace: phases.ConfigNamespace}, // Image cluster may name any ConfigMap there
			},
		},
		{
			Version: appsv1.SchemeGroupVersion, Object: &appsv1.Deployment{}, List: &appsv1.DeploymentList{}, Namespaced: true,
			Only: formerDeployments(o.OperatorNamespace),
		},
		{Version: coordinationv1.SchemeGroupVersion, Object: &coordinationv1.Lease{}, List: &coordinationv1.LeaseList{}, Namespaced: true, Uncached: true},
		{
			Version: admissionregistrationv1.SchemeGroupVersion, Object: &admissionregistrationv1.ValidatingAdmissionPolicy{},
			List: &admissionregistrationv1.ValidatingAdmissionPolicyList{}, Uncached: true,
		},
		{
			Version: admissionregistrationv1.SchemeGroupVersion, Object: &admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
			List: &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}, Uncached: true,
		},
		{Version: corev1.SchemeGroupVersion, Object: &corev1.Secret{}, List: &corev1.SecretList{}, Namespaced: true, Only: o.PullSecrets},
		{Version: configv1.GroupVersion, Object: &configv1.APIServer{}, List: &configv1.APIServerList{}},
		{Version: configv1.GroupVersion, Object: &configv1.ClusterImagePolicy{}, List: &configv1.ClusterImagePolicyList{}, Optional: true},
		{
			Version: configv1.GroupVersion, Object: &configv1.ImagePolicy{}, List: &configv1.ImagePolicyList{}, Optional: true, Namespaced: true,
			Only: []client.ObjectKey{{Namespace: o.OperatorNamespace}},
		},
		{
			Version: configv1.GroupVersion, Object: &configv1.Image{}, List: &configv1.ImageList{}, Optional: true,
			Only: []client.ObjectKey{{Name: phases.Singleton}},
		},
		{
			Version: operatorv1alpha1.GroupVersion, Object: &operatorv1alpha1.ImageContentSourcePolicy{},
			List: &operatorv1alpha1.ImageContentSourcePolicyList{}, Optional: true,
		},
		{Version: configv1.GroupVersion, Object: &configv1.ImageDigestMirrorSet{}, List: &configv1.ImageDigestMirrorSetList{}},
		{Version: configv1.GroupVersion, Object: &configv1.Infrastructure{}, List: &configv1.InfrastructureList{}},
		{
			Version: configv1.GroupVersion, Object: &configv1.ClusterOperator{}, List: &configv1.ClusterOperatorList{},
			Only: []client.ObjectKey{{Name: phases.ClusterOperatorName}},
		},
		{Version: operatorv1alpha1.GroupVersion, Object: &operatorv1alpha1.ClusterAPI{}, List: &operatorv1alpha1.ClusterAPIList{}},
	}
}
