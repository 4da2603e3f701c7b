// Package bootgate watches what the machine bootgate looks at and fires it. It decides nothing: there is
// no question about the state here.
package bootgate

import (
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/bootgate"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Part is what the machine bootgate brings to the house.
var Part = options.Part{
	Name: table.Table.Name, Add: Add, Kinds: kinds, ClusterOperator: phases.ClusterOperator, View: &shown,
	Runs: func(o options.Options) bool { return o.BootImages.Any() },
}

var shown = view.Singleton(view.TableOf(table.Table), phases.ClusterOperator, table.Off, table.Open)

// kinds are those that are read through the manager.
func kinds(options.Options) []house.Kind {
	one := []client.ObjectKey{{Name: phases.Configuration}}
	return []house.Kind{
		{
			Version: operatorv1.GroupVersion, Object: &operatorv1.MachineConfiguration{}, List: &operatorv1.MachineConfigurationList{},
			Optional: true, Only: one,
		},
		{
			Version: configv1.GroupVersion, Object: &configv1.ClusterVersion{}, List: &configv1.ClusterVersionList{},
			Only: []client.ObjectKey{{Name: phases.Version}}, Keep: releaseOnly,
		},
		{Version: configv1.GroupVersion, Object: &configv1.Infrastructure{}, List: &configv1.InfrastructureList{}},
		{
			Version: configv1.GroupVersion, Object: &configv1.ClusterOperator{}, List: &configv1.ClusterOperatorList{},
			Only: []client.ObjectKey{{Name: phases.ClusterOperator}},
		},
		{Version: corev1.SchemeGroupVersion, Object: &corev1.Node{}, List: &corev1.NodeList{}, Keep: architectureOnly},
	}
}

// apart are the kinds of which others read other objects, or more of them: the ConfigMaps, and metadata of templates and of
// infrastructure machines. What could name a template is asked of the API server itself.
func apart(o options.Options) house.Kinds {
	inCAPI := []client.ObjectKey{{Namespace: o.CAPINamespace}}
	all := house.Kinds{configMaps(
		client.ObjectKey{Namespace: phases.GoldenNamespace, Name: phases.GoldenConfigMap},
		client.ObjectKey{Namespace: o.OperatorNamespace, Name: phases.TrustedConfigMap},
	)}
	asked := []schema.GroupVersionKind{phases.MachineSetKind, phases.MachineDeploymentKind, phases.MachinePoolKind}
	for _, provider := range phases.Providers {
		all = append(all, metadata(provider.Template, inCAPI, clonesOnly), metadata(provider.Machine, inCAPI, originOnly))
		asked = append(asked, provider.Template, provider.Machine)
	}
	for _, kind := range asked {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		all = append(all, house.Kind{Version: kind.GroupVersion(), Object: object, List: &unstructured.UnstructuredList{}, Namespaced: true, Uncached: true})
	}
	return all
}

// known is the ConfigMap of images that were golden: two ConfigMaps of a namespace cannot have one watch, and the namespace
// has large ones.
func known(o options.Options) house.Kinds {
	return house.Kinds{configMaps(client.ObjectKey{Namespace: o.OperatorNamespace, Name: phases.KnownConfigMap})}
}

func configMaps(only ...client.ObjectKey) house.Kind {
	return house.Kind{
		Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true,
		Only: only, Keep: func(o client.Object) { o.SetManagedFields(nil) },
	}
}

func metadata(kind schema.GroupVersionKind, only []client.ObjectKey, keep func(client.Object)) house.Kind {
	return house.Kind{
		Version: kind.GroupVersion(), Object: phases.Metadata(kind), List: &metav1.PartialObjectMetadataList{},
		Namespaced: true, Optional: true, Only: only, Keep: keep,
	}
}

// releaseOnly leaves of a ClusterVersion what it says of the release.
func releaseOnly(o client.Object) {
	if v, is := o.(*configv1.ClusterVersion); is {
		v.ManagedFields, v.Annotations, v.Spec = nil, nil, configv1.ClusterVersionSpec{}
		v.Status = configv1.ClusterVersionStatus{History: v.Status.History, Desired: configv1.Release{Architecture: v.Status.Desired.Architecture}}
	}
}

// architectureOnly leaves of a Node its roles and its architecture.
func architectureOnly(o client.Object) {
	if n, is := o.(*corev1.Node); is {
		n.ManagedFields, n.Annotations, n.Spec = nil, nil, corev1.NodeSpec{}
		n.Status = corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{Architecture: n.Status.NodeInfo.Architecture}}
	}
}

// clonesOnly leaves of a template whether it is labelled as a clone.
func clonesOnly(o client.Object) {
	of, is := o.GetLabels()[golden.CloneOfLabel]
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	o.SetOwnerReferences(nil)
	if o.SetLabels(nil); is {
		o.SetLabels(map[string]string{golden.CloneOfLabel: of})
	}
}

// originOnly leaves of an infrastructure machine the template that it was made from.
func originOnly(o client.Object) {
	from := o.GetAnnotations()[phases.ClonedFrom]
	o.SetManagedFields(nil)
	o.SetLabels(nil)
	o.SetOwnerReferences(nil)
	o.SetFinalizers(nil)
	o.SetAnnotations(map[string]string{phases.ClonedFrom: from})
}
