// Package bootimage watches what the machine bootimage looks at and fires it. It decides nothing: there is no question about
// the state here.
package bootimage

import (
	"slices"

	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Part is what the machine bootimage brings to the house. Its kinds are read apart, see apartKinds.
var Part = options.Part{
	Name: table.Table.Name, Add: Add, Kinds: func(options.Options) []house.Kind { return nil },
	View: &view.View{Table: tableView, Instances: instances, Look: look},
	Runs: func(o options.Options) bool { return o.BootImages.Any() },
}

// arrivals have kinds looked for at once when their definitions come, by the names of the definitions.
type arrivals map[string]*house.Arrival

// apartKinds are those that the machine reads, from caches of its own. None of them has to be served.
func apartKinds(o options.Options, come arrivals) house.Kinds {
	// Of Secrets where Machine API's are those that have a copy are asked for one by one, unless they are this operator's to write.
	mapi, capi := []client.ObjectKey{{Namespace: phases.MachineAPINamespace}}, []client.ObjectKey{{Namespace: o.CAPINamespace}}
	secrets := slices.Clone(capi)
	if o.BootImages.MachineAPI {
		secrets = append(secrets, mapi...)
	}
	arrival := func(definition string) *house.Arrival {
		come[definition] = &house.Arrival{}
		return come[definition]
	}
	kinds := house.Kinds{
		{
			Version: machinev1beta1.GroupVersion, Object: &machinev1beta1.MachineSet{}, List: &machinev1beta1.MachineSetList{}, Namespaced: true, Only: mapi,
			Optional: true, Busy: true, Arrival: arrival(string(golden.MachineSets)), Keep: keepTarget, Unread: []string{ownedFields},
		},
		{
			Version: corev1.SchemeGroupVersion, Object: phases.Secret(), List: &metav1.PartialObjectMetadataList{}, Namespaced: true,
			Only: secrets, Keep: keepNothing,
		},
		// Written, and read from the API server itself.
		{Version: corev1.SchemeGroupVersion, Object: &corev1.Secret{}, List: &corev1.SecretList{}, Namespaced: true, Uncached: true},
		{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true, Uncached: true},
	}
	if o.BootImages.MachineAPI {
		kinds = append(kinds, house.Kind{
			Version: machinev1.GroupVersion, Object: &machinev1.ControlPlaneMachineSet{}, List: &machinev1.ControlPlaneMachineSetList{}, Namespaced: true, Only: mapi,
			Optional: true, Arrival: arrival(string(golden.ControlPlaneMachineSets)), Keep: keepTarget,
		})
	}
	if o.BootImages.ClusterAPI {
		for definition, kind := range map[string]schema.GroupVersionKind{
			"clusters.cluster.x-k8s.io": phases.ClusterKind, string(golden.CAPIMachineSets): phases.MachineSetKind, string(golden.MachineDeployments): phases.MachineDeploymentKind,
			"awsmachinetemplates.infrastructure.cluster.x-k8s.io": phases.AWSTemplateKind, "gcpmachinetemplates.infrastructure.cluster.x-k8s.io": phases.GCPTemplateKind,
		} {
			kinds = append(kinds, house.Kind{
				Version: kind.GroupVersion(), Object: phases.Untyped(kind), List: &unstructured.UnstructuredList{}, Namespaced: true, Only: capi,
				Optional: true, Busy: true, Arrival: arrival(definition), Keep: keepTarget, Unread: []string{ownedFields, "status"},
			})
		}
	}
	return kinds
}

// keepNothing leaves of metadata what names an object and its version.
func keepNothing(o client.Object) {
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	o.SetLabels(nil)
}
