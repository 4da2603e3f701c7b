// Package openshiftconfig watches what the machine openshiftconfig looks at and fires it. It decides nothing: there is no question about
// the state here.
package openshiftconfig

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/openshiftconfig"
)

// Part is what the machine openshiftconfig brings to the provider.
var Part = options.Part{Name: table.Table.Name, Add: Add, Kinds: kinds, View: view.TableOf(table.Table)}

// kinds are those that are read from caches.
var kinds = []house.Kind{
	{Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftConfig{}, List: &v1alpha1.OpenShiftConfigList{}, Namespaced: true, Keep: keep},
	{Version: v1alpha1.GroupVersion, Object: &v1alpha1.OpenShiftControlPlane{}, List: &v1alpha1.OpenShiftControlPlaneList{}, Namespaced: true, Keep: keep},
	{Version: clusterv1.GroupVersion, Object: &clusterv1.Cluster{}, List: &clusterv1.ClusterList{}, Namespaced: true, Keep: keep},
	{Version: clusterv1.GroupVersion, Object: &clusterv1.Machine{}, List: &clusterv1.MachineList{}, Namespaced: true, Keep: keep},
	{Version: corev1.SchemeGroupVersion, Object: secret(), List: &metav1.PartialObjectMetadataList{}, Namespaced: true, Keep: keep},
}

func secret() *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return o
}

// keep leaves of an object what anybody reads: all but who wrote which field.
func keep(o client.Object) { o.SetManagedFields(nil) }
