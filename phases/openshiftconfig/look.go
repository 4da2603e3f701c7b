package openshiftconfig

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
)

// Look is an OpenShiftConfig with the Machine that owns it and its Cluster, as they were read.
type Look struct {
	// Config is nil where there is none, Machine where none owns it or the owner is gone, Cluster where that is not known or gone.
	Config  *v1alpha1.OpenShiftConfig
	Machine *clusterv1.Machine
	Cluster *clusterv1.Cluster
}

// Read reads an OpenShiftConfig, its owner by the UID in the reference, and the Cluster that the owner names, or a label where there
// is no owner yet.
func Read(ctx context.Context, c client.Reader, key client.ObjectKey) (Look, error) {
	var look Look
	config := &v1alpha1.OpenShiftConfig{}
	if found, err := get(ctx, c, key, config); err != nil || !found {
		return look, err
	}
	look.Config = config
	name := config.Labels[clusterv1.ClusterNameLabel]
	if owner := ownerOf(config); owner != nil {
		machine := &clusterv1.Machine{}
		found, err := get(ctx, c, client.ObjectKey{Namespace: key.Namespace, Name: owner.Name}, machine)
		if err != nil {
			return look, err
		}
		if found && machine.UID == owner.UID {
			look.Machine, name = machine, machine.Spec.ClusterName
		}
	}
	if name == "" {
		return look, nil
	}
	cluster := &clusterv1.Cluster{}
	found, err := get(ctx, c, client.ObjectKey{Namespace: key.Namespace, Name: name}, cluster)
	if found {
		look.Cluster = cluster
	}
	return look, err
}

// get reads an object that is not to be changed: of what a cache holds there is no copy.
func get(ctx context.Context, c client.Reader, key client.ObjectKey, object client.Object) (found bool, err error) {
	switch err := c.Get(ctx, key, object, client.UnsafeDisableDeepCopy); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %T %s: %w", object, key, err)
	}
	return true, nil
}

// ownerOf is the reference to the Machine, nil for none. Its version does not matter.
func ownerOf(config *v1alpha1.OpenShiftConfig) *metav1.OwnerReference {
	for i := range config.OwnerReferences {
		owner := &config.OwnerReferences[i]
		if group, err := schema.ParseGroupVersion(owner.APIVersion); err == nil && group.Group == clusterv1.GroupVersion.Group && owner.Kind == "Machine" {
			return owner
		}
	}
	return nil
}

// Facts are what these objects say: nothing of the payload and of the data Secret.
func (l Look) Facts() guards.Facts {
	if l.Config == nil {
		return guards.Facts{}
	}
	_, paused := l.Config.Annotations[clusterv1.PausedAnnotation]
	f := guards.Facts{
		Seen: true,
		Object: guards.Object{
			Namespace: l.Config.Namespace, Name: l.Config.Name, Role: guards.Role(l.Config.Spec.Role), Paused: paused,
		},
		Machine: guards.Machine{Known: true},
		Cluster: guards.Cluster{Known: true},
	}
	if m := l.Machine; m != nil {
		f.Machine = guards.Machine{
			Known: true, Name: m.Name, Node: m.Status.NodeRef.Name,
			// A status is dropped when an object moves to another plane; the provider's ID is not.
			Provisioned: is(m.Status.Initialization.InfrastructureProvisioned) || m.Spec.ProviderID != "",
		}
	}
	if c := l.Cluster; c != nil {
		f.Cluster = guards.Cluster{
			Known: true, Name: c.Name, Paused: is(c.Spec.Paused), Initialized: is(c.Status.Initialization.ControlPlaneInitialized),
		}
	}
	return f
}

func is(value *bool) bool { return value != nil && *value }
