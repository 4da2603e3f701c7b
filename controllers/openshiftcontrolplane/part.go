// Package openshiftcontrolplane watches what the machine openshiftcontrolplane looks at and fires it. It decides nothing: there is no
// question about the state here.
package openshiftcontrolplane

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
)

// Part is what the machine openshiftcontrolplane brings to the provider.
var Part = options.Part{Name: table.Table.Name, Add: Add, Kinds: kinds, View: view.TableOf(table.Table)}

// kinds are those that are read from caches. Of definitions the labels are, which say of which contract with Cluster API a version is.
var kinds = []house.Kind{
	{Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftControlPlane{}, List: &v1alpha1.OpenShiftControlPlaneList{}, Namespaced: true, Keep: keepAll},
	{Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftConfig{}, List: &v1alpha1.OpenShiftConfigList{}, Namespaced: true, Keep: keepAll},
	{Version: clusterv1.GroupVersion, Object: &clusterv1.Cluster{}, List: &clusterv1.ClusterList{}, Namespaced: true, Keep: keepAll},
	{Version: clusterv1.GroupVersion, Object: &clusterv1.Machine{}, List: &clusterv1.MachineList{}, Namespaced: true, Keep: keepAll},
	{Version: corev1.SchemeGroupVersion, Object: secret(), List: &metav1.PartialObjectMetadataList{}, Namespaced: true, Keep: keepAll},
	{Version: apiextensionsv1.SchemeGroupVersion, Object: definition(), List: &metav1.PartialObjectMetadataList{}, Keep: keepLabels},
}

func metadataOf(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

func secret() *metav1.PartialObjectMetadata {
	return metadataOf(corev1.SchemeGroupVersion.WithKind("Secret"))
}

func definition() *metav1.PartialObjectMetadata {
	return metadataOf(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
}

// keepAll leaves of an object what anybody reads: all but who wrote which field.
func keepAll(o client.Object) { o.SetManagedFields(nil) }

func keepLabels(o client.Object) {
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	o.SetOwnerReferences(nil)
	o.SetFinalizers(nil)
}
