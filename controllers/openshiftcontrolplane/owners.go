package openshiftcontrolplane

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/machine"
)

const kind = "OpenShiftControlPlane"

// owners tell whom an object matters to, by what caches hold. If that cannot be read, the next event or look finds it.
type owners struct{ in client.Reader }

// ofCluster is the control plane that a Cluster refers to.
func (o owners) ofCluster(object client.Object) []machine.Key {
	cluster, is := object.(*clusterv1.Cluster)
	if !is {
		return nil
	}
	ref := cluster.Spec.ControlPlaneRef
	if ref.Kind != kind || ref.APIGroup != v1alpha1.GroupVersion.Group {
		return nil
	}
	return []machine.Key{house.KeyOf(client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name})}
}

// ofMachine is the control plane that made a Machine, or that of its Cluster: workers matter, too, to one that is being deleted.
func (o owners) ofMachine(object client.Object) []machine.Key {
	if key, controlled := controller(object); controlled {
		return key
	}
	return o.named(object)
}

// ofConfig is the control plane of the Cluster that a config is of.
func (o owners) ofConfig(object client.Object) []machine.Key { return o.named(object) }

// ofSecret is the control plane that made a Secret, and those to which it is an input or a kubeconfig.
func (o owners) ofSecret(object client.Object) []machine.Key {
	if key, controlled := controller(object); controlled {
		return key
	}
	keys := o.named(object)
	planes := &v1alpha1.OpenShiftControlPlaneList{}
	if o.in.List(context.Background(), planes, client.InNamespace(object.GetNamespace())) != nil {
		return keys
	}
	for i := range planes.Items {
		if plane := &planes.Items[i]; isInput(plane, object) {
			keys = append(keys, house.KeyOf(client.ObjectKeyFromObject(plane)))
		}
	}
	return keys
}

// isInput says that a control plane names a Secret, or chooses it.
func isInput(plane *v1alpha1.OpenShiftControlPlane, secret client.Object) bool {
	if plane.Spec.InstallStateSecretRef.Name == secret.GetName() {
		return true
	}
	chosen := plane.Spec.ManifestsSelector
	if chosen == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(chosen)
	return err == nil && selector.Matches(labels.Set(secret.GetLabels()))
}

// controller is the control plane that controls an object.
func controller(object client.Object) (keys []machine.Key, controlled bool) {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || owner.Kind != kind {
		return nil, false
	}
	return []machine.Key{house.KeyOf(client.ObjectKey{Namespace: object.GetNamespace(), Name: owner.Name})}, true
}

// named is the control plane of the Cluster that an object has the label of.
func (o owners) named(object client.Object) []machine.Key {
	name := object.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	if o.in.Get(context.Background(), client.ObjectKey{Namespace: object.GetNamespace(), Name: name}, cluster) != nil {
		return nil
	}
	return o.ofCluster(cluster)
}
