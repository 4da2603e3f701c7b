package options

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
)

// unread is what keep leaves nothing of, and deprecated what keepMachine and keepCluster do not, either.
var (
	unread     = []string{"metadata.managedFields"}
	deprecated = append(slices.Clone(unread), "status.deprecated")
)

// Kinds are those that every machine of the provider reads from caches. Of Secrets that is metadata.
var Kinds = []house.Kind{
	{
		Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftControlPlane{}, List: &v1alpha1.OpenShiftControlPlaneList{}, Namespaced: true,
		Busy: true, Keep: keep, Unread: unread,
	},
	{
		Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftConfig{}, List: &v1alpha1.OpenShiftConfigList{}, Namespaced: true,
		Busy: true, Keep: keep, Unread: unread,
	},
	{
		Version: clusterv1.GroupVersion, Object: &clusterv1.Cluster{}, List: &clusterv1.ClusterList{}, Namespaced: true,
		Busy: true, Keep: keepCluster, Unread: deprecated,
	},
	{
		Version: clusterv1.GroupVersion, Object: &clusterv1.Machine{}, List: &clusterv1.MachineList{}, Namespaced: true,
		Busy: true, Keep: keepMachine, Unread: deprecated,
	},
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

// keepCluster and keepMachine leave out the conditions of former versions of Cluster API, too: they are as long as those that are read.
func keepCluster(o client.Object) {
	keep(o)
	if cluster, is := o.(*clusterv1.Cluster); is {
		cluster.Status.Deprecated = nil
	}
}

func keepMachine(o client.Object) {
	keep(o)
	if one, is := o.(*clusterv1.Machine); is {
		one.Status.Deprecated = nil
	}
}
