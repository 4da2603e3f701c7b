// Package privatecapi watches what the machine privatecapi looks at and fires it. It decides nothing: there is no question about
// the state here.
package privatecapi

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// Part is what the machine privatecapi brings to the house. Its kinds are read apart, see apartKinds.
var Part = options.Part{
	Name: table.Table.Name, Add: Add, Kinds: func(options.Options) []house.Kind { return nil },
	View: &view.View{Table: tableView, Instances: instances, Look: look},
	Runs: func(o options.Options) bool { return o.PrivateCAPI.Runs() },
}

// hostedClusterKind is HyperShift's.
var hostedClusterKind = schema.GroupVersionKind{Group: "hypershift.openshift.io", Version: "v1beta1", Kind: "HostedCluster"}

func hostedCluster() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(hostedClusterKind)
	return o
}

// served is told when the API of HostedClusters may be about to be served.
var served house.Arrival

// apartKinds are those that the machine reads from caches of its own. A cluster may lack HostedClusters: then there is nothing to do.
func apartKinds(o options.Options) house.Kinds {
	return house.Kinds{
		{
			Version: hostedClusterKind.GroupVersion(), Object: hostedCluster(), List: &unstructured.UnstructuredList{}, Namespaced: true,
			Optional: true, Arrival: &served, Keep: keep,
		},
		{
			Version: corev1.SchemeGroupVersion, Object: namespace(), List: &metav1.PartialObjectMetadataList{}, Keep: keepLabels,
		},
		{
			Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true,
			Only: []client.ObjectKey{{Namespace: o.OperatorNamespace, Name: guards.ProgrammeName}},
		},
	}
}

// namespace is the metadata of one.
func namespace() *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return o
}

// keepLabels leaves of a namespace its name, and the fence that stands in it.
func keepLabels(o client.Object) {
	fence, stands := o.GetLabels()[guards.FenceLabel]
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	o.SetLabels(nil)
	if stands {
		o.SetLabels(map[string]string{guards.FenceLabel: fence})
	}
}

// keep leaves of a HostedCluster what the machine looks at.
func keep(o client.Object) {
	if untyped, is := o.(*unstructured.Unstructured); is {
		phases.Keep(untyped)
	}
}
