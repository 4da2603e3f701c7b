package options

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
)

// Kinds are those that every machine of the provider reads from caches. Of Secrets that is metadata.
var Kinds = []house.Kind{
	{Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftControlPlane{}, List: &v1alpha1.OpenShiftControlPlaneList{}, Namespaced: true, Keep: keep},
	{Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftConfig{}, List: &v1alpha1.OpenShiftConfigList{}, Namespaced: true, Keep: keep},
	{Version: clusterv1.GroupVersion, Object: &clusterv1.Cluster{}, List: &clusterv1.ClusterList{}, Namespaced: true, Keep: keep},
	{Version: clusterv1.GroupVersion, Object: &clusterv1.Machine{}, List: &clusterv1.MachineList{}, Namespaced: true, Keep: keep},
	{Version: corev1.SchemeGroupVersion, Object: Secret(), List: &metav1.PartialObjectMetadataList{}, Namespaced: true, Keep: keep},
}

// Secret is the metadata of one.
func Secret() *metav1.PartialObjectMetadata {
	return MetadataOf(corev1.SchemeGroupVersion.WithKind("Secret"))
}

// MetadataOf is that of an object of a kind.
func MetadataOf(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

// keep leaves of an object what anybody reads: all but who wrote which field.
func keep(o client.Object) { o.SetManagedFields(nil) }
