package bootimage

import (
	"context"
	"fmt"
	"strings"

	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/phases/golden"
)

// The marks by which others say what they have to do with a target.
const (
	pausedAnnotation = "cluster.x-k8s.io/paused"
	topologyLabel    = "topology.cluster.x-k8s.io/owned"
	streamLabel      = "machineconfiguration.openshift.io/osstream"
	osLabel          = "machine.openshift.io/os-id"
)

// others is what others have to do with a target.
func (p *Pass) others(ctx context.Context) (guards.Others, error) {
	object := p.Target.Object
	o := guards.Others{Known: true, GoingAway: object.GetDeletionTimestamp() != nil, WantedStream: p.Stream, Stream: object.GetLabels()[streamLabel]}
	if api(p.Target.Kind) == guards.MachineAPI {
		o.Claimed = p.Verdict.ClaimedBy
	}
	o.Owner, o.OfDeployment = owner(p.Target)
	_, o.Topology = object.GetLabels()[topologyLabel]
	if _, paused := object.GetAnnotations()[pausedAnnotation]; paused {
		o.Paused = kindName(p.Target.Kind) + " " + p.Target.Name
	}
	switch t := object.(type) {
	case *machinev1.ControlPlaneMachineSet:
		o.Inactive = t.Spec.State != machinev1.ControlPlaneMachineSetStateActive
		if template := t.Spec.Template.OpenShiftMachineV1Beta1Machine; template != nil {
			o.Windows = template.ObjectMeta.Labels[osLabel] == "Windows"
		}
	case *machinev1beta1.MachineSet:
		o.Windows = t.Spec.Template.Labels[osLabel] == "Windows"
		o.Authority = authority(t)
		o.TwinCurrent = p.isCurrent(golden.CAPIMachineSets)
	case *unstructured.Unstructured:
		return o, p.clusterAPI(ctx, t, &o)
	}
	return o, nil
}

// clusterAPI looks at what objects of Cluster API have besides.
func (p *Pass) clusterAPI(ctx context.Context, t *unstructured.Unstructured, o *guards.Others) error {
	os, _, _ := unstructured.NestedString(t.Object, "spec", "template", "metadata", "labels", osLabel)
	o.Windows = os == "Windows"
	if paused, _, _ := unstructured.NestedBool(t.Object, "spec", "paused"); paused {
		o.Paused = kindName(p.Target.Kind) + " " + p.Target.Name
	}
	cluster := Untyped(ClusterKind)
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.CAPINamespace, Name: p.Target.clusterName()}, cluster, shared)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Cluster %s: %w", p.Target.clusterName(), err)
	}
	_, marked := cluster.GetAnnotations()[pausedAnnotation]
	if paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused"); paused || marked {
		o.Paused = "Cluster " + p.Target.clusterName()
	}
	twin, err := p.twin(ctx)
	if twin != nil {
		o.Authority = authority(twin)
		o.TwinCurrent = p.isCurrent(golden.MachineSets)
	}
	return err
}

// twin is the MachineSet of Machine API that has the name of one of Cluster API, nil if there is none.
func (p *Pass) twin(ctx context.Context) (*machinev1beta1.MachineSet, error) {
	if p.Target.Kind != golden.CAPIMachineSets {
		return nil, nil
	}
	twin := &machinev1beta1.MachineSet{}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: MachineAPINamespace, Name: p.Target.Name}, twin, shared)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading MachineSet %s of Machine API: %w", p.Target.Name, err)
	}
	return twin, nil
}

// authority is the API whose MachineSet counts, and another word while neither does.
func authority(set *machinev1beta1.MachineSet) string {
	switch now := set.Status.AuthoritativeAPI; {
	case now == "" && set.Spec.AuthoritativeAPI == machinev1beta1.MachineAuthorityClusterAPI:
		return string(machinev1beta1.MachineAuthorityMigrating)
	case now == "":
		return guards.MachineAPI
	default:
		return string(now)
	}
}

// owner is who owns a target, but for its own Cluster.
func owner(t *Target) (name string, ofDeployment bool) {
	for _, ref := range t.Object.GetOwnerReferences() {
		if t.clusterName() != "" && isClusterAPI(ref, ClusterKind.Kind) && ref.Name == t.clusterName() {
			continue
		}
		return ref.Kind + " " + ref.Name, isClusterAPI(ref, MachineDeploymentKind.Kind)
	}
	return "", false
}

func isClusterAPI(ref metav1.OwnerReference, kind string) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return ref.Kind == kind && group == ClusterKind.Group
}

// isCurrent says that the set of another API with the target's name is Current.
func (p *Pass) isCurrent(kind golden.Kind) bool {
	standing, is := p.Board.Of(KeyOf(kind, p.Target.Name))
	return is && standing.Done
}
