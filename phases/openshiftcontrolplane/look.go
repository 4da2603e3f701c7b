package openshiftcontrolplane

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// initialized is the condition by which the status says that the guest's API has answered in this attempt. The contract's field of
// the same meaning is never unset, also where an attempt is cleared away.
const initialized = "Initialized"

// asCached is for what is read of a cache and not changed, which needs no copy of its own.
const asCached = client.UnsafeDisableDeepCopy

// Look is an OpenShiftControlPlane and the Cluster that owns it, as they were read. They are not to be changed.
type Look struct {
	// Plane is nil where there is none, Cluster where none owns it, or the owner is gone.
	Plane   *v1alpha1.OpenShiftControlPlane
	Cluster *clusterv1.Cluster
}

// Read reads an OpenShiftControlPlane, and its owner by the UID in the reference: another Cluster of the name is no owner.
func Read(ctx context.Context, c client.Reader, key client.ObjectKey) (Look, error) {
	var look Look
	plane := &v1alpha1.OpenShiftControlPlane{}
	if err := c.Get(ctx, key, plane, asCached); apierrors.IsNotFound(err) {
		return look, nil
	} else if err != nil {
		return look, fmt.Errorf("reading OpenShiftControlPlane %s: %w", key, err)
	}
	look.Plane = plane
	owner := ownerOf(plane)
	if owner == nil {
		return look, nil
	}
	cluster := &clusterv1.Cluster{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: owner.Name}, cluster, asCached); client.IgnoreNotFound(err) != nil {
		return look, fmt.Errorf("reading Cluster %s/%s: %w", key.Namespace, owner.Name, err)
	} else if err == nil && cluster.UID == owner.UID {
		look.Cluster = cluster
	}
	return look, nil
}

// ownerOf is the reference to the Cluster, nil for none. Its version does not matter.
func ownerOf(plane *v1alpha1.OpenShiftControlPlane) *metav1.OwnerReference {
	for i := range plane.OwnerReferences {
		owner := &plane.OwnerReferences[i]
		if group, err := schema.ParseGroupVersion(owner.APIVersion); err == nil && group.Group == clusterv1.GroupVersion.Group && owner.Kind == "Cluster" {
			return owner
		}
	}
	return nil
}

// Facts are what the two objects say. now is what the time of hooks is counted to.
func (l Look) Facts(now time.Time) guards.Facts {
	if l.Plane == nil {
		return guards.Facts{}
	}
	spec := &l.Plane.Spec
	f := guards.Facts{
		Seen:     true,
		Object:   l.object(),
		Cluster:  guards.Cluster{Known: true},
		Marks:    MarksOf(l.Plane),
		Noted:    noted(&l.Plane.Status),
		Timeouts: timeouts(spec.Timeouts),
	}
	if c := l.Cluster; c != nil {
		f.Cluster = guards.Cluster{
			Known: true, Name: c.Name, Paused: is(c.Spec.Paused), Provisioned: is(c.Status.Initialization.InfrastructureProvisioned),
			Host: c.Spec.ControlPlaneEndpoint.Host, Port: int(c.Spec.ControlPlaneEndpoint.Port),
		}
	}
	f.Hooks = l.hooks(now)
	return f
}

// object are the facts of the OpenShiftControlPlane itself.
func (l Look) object() guards.Object {
	o := guards.Object{
		Namespace: l.Plane.Namespace, Name: l.Plane.Name, UID: string(l.Plane.UID),
		Deleting: !l.Plane.DeletionTimestamp.IsZero(), Paused: isPaused(l.Plane),
		Retry: l.Plane.Annotations[v1alpha1.RetryAnnotation], Served: servedMark.On(l.Plane),
		Retain: l.Plane.Spec.BootstrapMachine.DeletePolicy == v1alpha1.Retain,
	}
	if l.Plane.Spec.Replicas != nil {
		o.Replicas = int(*l.Plane.Spec.Replicas)
	}
	return o
}

func is(value *bool) bool { return value != nil && *value }

// isPaused says that an object has Cluster API's annotation, whatever its value is.
func isPaused(object client.Object) bool {
	_, paused := object.GetAnnotations()[clusterv1.PausedAnnotation]
	return paused
}

// noted are the marks as the status says them.
func noted(status *v1alpha1.OpenShiftControlPlaneStatus) guards.Marks {
	m := guards.Marks{Initialized: meta.IsStatusConditionTrue(status.Conditions, initialized)}
	if status.Payload != nil {
		m.Inputs = status.Payload.Digest
	}
	if b := status.Bootstrap; b != nil {
		m.Finished = b.CompletedAt != nil
		if b.MachineRef != nil {
			m.Bootstrap = b.MachineRef.UID
		}
	}
	return m
}

// hooks are the conditions that are waited for. The time of one before the removal counts from when the bootstrap was complete; as
// long as nobody knows when that was, it has not passed. One without a time has that of the state, which the removal outlasts.
func (l Look) hooks(now time.Time) []guards.Hook {
	var hooks []guards.Hook
	for _, h := range l.Plane.Spec.Hooks {
		hook := guards.Hook{Phase: guards.HookPhase(h.Phase), Condition: h.ConditionType}
		if l.Cluster != nil {
			hook.Met = meta.IsStatusConditionTrue(l.Cluster.Status.Conditions, h.ConditionType)
		}
		if h.TimeoutSeconds != nil {
			hook.Timeout = time.Duration(*h.TimeoutSeconds) * time.Second
		}
		if hook.Phase == guards.PreBootstrapRemoval {
			if hook.Timeout == 0 {
				hook.Timeout = guards.RemovalPatience
			}
			if b := l.Plane.Status.Bootstrap; b != nil && b.CompletedAt != nil {
				hook.Over = !now.Before(b.CompletedAt.Add(hook.Timeout))
			}
		}
		hooks = append(hooks, hook)
	}
	return hooks
}

// timeouts are what the spec asks for, by the states that they are of.
func timeouts(t *v1alpha1.Timeouts) map[machine.State]time.Duration {
	if t == nil {
		return nil
	}
	all := map[machine.State]time.Duration{}
	for state, seconds := range map[machine.State]*int32{
		guards.AwaitingInfrastructure: t.InfrastructureSeconds,
		guards.ResolvingInputs:        t.InputsSeconds,
		guards.GeneratingIgnition:     t.IgnitionSeconds,
		guards.CreatingMachines:       t.MachinesSeconds,
		guards.AwaitingAPI:            t.APISeconds,
		guards.Bootstrapping:          t.BootstrapSeconds,
		guards.Settling:               t.OperatorsSeconds,
		guards.Upgrading:              t.UpgradeSeconds,
	} {
		if seconds != nil {
			all[state] = time.Duration(*seconds) * time.Second
		}
	}
	return all
}
