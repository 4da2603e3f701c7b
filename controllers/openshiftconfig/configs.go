package openshiftconfig

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/machine"
)

const kind = "OpenShiftConfig"

// configs tell which of them an object matters to, by what caches hold. If that cannot be read, the next event finds it.
type configs struct {
	in client.Reader
	// later asks for a pass after a while.
	later func(machine.Key, time.Duration)
	now   func() time.Time
}

// ownedWithin is how long a config may be without the Machine that it is for: it is created first, and Cluster API makes the Machine its owner,
// which looks at one no more than once a second. Nothing could be done with it until then, and what was told would be told anew at once.
const ownedWithin = 5 * time.Second

// itself is the config, at once unless it is so young that its Machine is still to come; then it is asked for later.
func (c configs) itself(object client.Object) []machine.Key {
	left := ownedWithin - c.now().Sub(object.GetCreationTimestamp().Time)
	if left <= 0 || metav1.GetControllerOfNoCopy(object) != nil {
		return house.Itself(object)
	}
	for _, key := range house.Itself(object) {
		c.later(key, min(left, ownedWithin))
	}
	return nil
}

// ofMachine is the config that a Machine refers to.
func (c configs) ofMachine(object client.Object) []machine.Key {
	m, is := object.(*clusterv1.Machine)
	if !is {
		return nil
	}
	ref := m.Spec.Bootstrap.ConfigRef
	if ref.Kind != kind || ref.APIGroup != v1alpha1.GroupVersion.Group {
		return nil
	}
	config := &v1alpha1.OpenShiftConfig{}
	if c.in.Get(context.Background(), client.ObjectKey{Namespace: m.Namespace, Name: ref.Name}, config, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	return c.itself(config)
}

// ofCluster are the configs of a Cluster.
func (c configs) ofCluster(object client.Object) []machine.Key {
	return c.that(object.GetNamespace(), func(config *v1alpha1.OpenShiftConfig) bool {
		return config.Labels[clusterv1.ClusterNameLabel] == object.GetName()
	})
}

// ofSecret is the config whose data Secret it is, or those to which it is payload or has overrides.
func (c configs) ofSecret(object client.Object) []machine.Key {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner != nil && owner.Kind == kind {
		return []machine.Key{house.KeyOf(client.ObjectKey{Namespace: object.GetNamespace(), Name: owner.Name})}
	}
	cluster := object.GetLabels()[clusterv1.ClusterNameLabel]
	return c.that(object.GetNamespace(), func(config *v1alpha1.OpenShiftConfig) bool {
		ref, plane := config.Spec.OverridesSecretRef, config.Spec.ControlPlaneRef
		switch {
		case ref != nil && ref.Name == object.GetName(), config.Name == object.GetName():
			return true
		case owner == nil || owner.Kind != "OpenShiftControlPlane":
			return false
		case plane != nil:
			return plane.Name == owner.Name
		}
		return config.Labels[clusterv1.ClusterNameLabel] == cluster
	})
}

// that are the configs of a namespace for which something holds.
func (c configs) that(namespace string, holds func(*v1alpha1.OpenShiftConfig) bool) []machine.Key {
	list := &v1alpha1.OpenShiftConfigList{}
	if c.in.List(context.Background(), list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	var keys []machine.Key
	for i := range list.Items {
		if holds(&list.Items[i]) {
			keys = append(keys, c.itself(&list.Items[i])...)
		}
	}
	return keys
}

// machineMatters lets through what is read of a Machine, clusterMatters the same of a Cluster.
var (
	machineMatters = house.Changed(func(m *clusterv1.Machine) any {
		return []any{m.UID, m.Spec.Bootstrap.ConfigRef, m.Status.Initialization, m.Status.NodeRef}
	})
	clusterMatters = house.Changed(func(c *clusterv1.Cluster) any {
		return []any{c.Spec.Paused, c.Spec.ControlPlaneRef, c.Status.Initialization}
	})
)
