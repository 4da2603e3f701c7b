package bootgate

import (
	"context"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stackHub is the cloud of an Azure that has no marketplace of ours.
const stackHub configv1.AzureCloudEnvironment = "AzureStackCloud"

// controlPlaneLabels are on Nodes of the control plane.
var controlPlaneLabels = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// world is what one look has seen; nil stands for what is not there.
type world struct {
	config  *operatorv1.MachineConfiguration
	infra   *configv1.Infrastructure
	version *configv1.ClusterVersion
	golden  *corev1.ConfigMap
	trusted *corev1.ConfigMap
	known   *corev1.ConfigMap
	// architectures are those of the control plane's Nodes, sorted.
	architectures []string
}

// look reads everything, from caches.
func (p *Phases) look(ctx context.Context) (w world, err error) {
	// Somebody else makes it and takes it away, and every write of it is bound to what was seen: its cache is enough, and needs no right to get it.
	config, is, err := p.memory.config.newest(ctx, p, p.Client, nil, client.ObjectKey{Name: Configuration}, &operatorv1.MachineConfiguration{}, nil)
	if w.config = orNil(config, is); err != nil {
		return w, err
	}
	known, is, err := p.memory.known.newest(ctx, p, p.Known, p.Live, p.knownKey(), &corev1.ConfigMap{}, &corev1.ConfigMap{})
	if w.known = orNil(known, is); err != nil {
		return w, err
	}
	w.infra, w.version, w.golden, w.trusted = &configv1.Infrastructure{}, &configv1.ClusterVersion{}, &corev1.ConfigMap{}, &corev1.ConfigMap{}
	if is, err = read(ctx, p.Client, client.ObjectKey{Name: Configuration}, w.infra); err != nil {
		return w, err
	}
	w.infra = orNil(w.infra, is)
	if is, err = read(ctx, p.Client, client.ObjectKey{Name: Version}, w.version); err != nil {
		return w, err
	}
	w.version = orNil(w.version, is)
	if is, err = read(ctx, p.Apart, client.ObjectKey{Namespace: GoldenNamespace, Name: GoldenConfigMap}, w.golden); err != nil {
		return w, err
	}
	w.golden = orNil(w.golden, is)
	if is, err = read(ctx, p.Apart, client.ObjectKey{Namespace: p.OperatorNamespace, Name: TrustedConfigMap}, w.trusted); err != nil {
		return w, err
	}
	w.trusted = orNil(w.trusted, is)
	nodes := &corev1.NodeList{}
	if err := p.Client.List(ctx, nodes); err != nil {
		return w, fmt.Errorf("listing Nodes: %w", err)
	}
	w.architectures = architectures(nodes.Items)
	return w, nil
}

// read reads an object into one.
func read(ctx context.Context, from client.Reader, key client.ObjectKey, into client.Object) (is bool, err error) {
	err = from.Get(ctx, key, into)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %T %s: %w", into, key, err)
	}
	return true, nil
}

func orNil[T any](object *T, is bool) *T {
	if !is {
		return nil
	}
	return object
}

// ControlPlaneArchitecture is that of a Node of the control plane, empty for another Node.
func ControlPlaneArchitecture(node *corev1.Node) string {
	for _, label := range controlPlaneLabels {
		if _, is := node.Labels[label]; is {
			return node.Status.NodeInfo.Architecture
		}
	}
	return ""
}

func architectures(nodes []corev1.Node) []string {
	var all []string
	for i := range nodes {
		if of := ControlPlaneArchitecture(&nodes[i]); of != "" {
			all = append(all, of)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// platform is the Infrastructure's, empty as long as it says none.
func (w world) platform() configv1.PlatformType {
	if w.infra == nil || w.infra.Status.PlatformStatus == nil {
		return ""
	}
	return w.infra.Status.PlatformStatus.Type
}

// onStackHub says that the platform is an Azure Stack Hub.
func (w world) onStackHub() bool {
	return w.platform() == configv1.AzurePlatformType && w.infra.Status.PlatformStatus.Azure != nil && w.infra.Status.PlatformStatus.Azure.CloudName == stackHub
}

// region is where the cluster is, for AWS.
func (w world) region() string {
	if w.platform() != configv1.AWSPlatformType || w.infra.Status.PlatformStatus.AWS == nil {
		return ""
	}
	return w.infra.Status.PlatformStatus.AWS.Region
}

// singleNode says that the control plane is one node.
func (w world) singleNode() bool {
	return w.infra != nil && w.infra.Status.ControlPlaneTopology == configv1.SingleReplicaTopologyMode
}

// history is the release's, the newest entry first.
func (w world) history() []configv1.UpdateHistory {
	if w.version == nil {
		return nil
	}
	return w.version.Status.History
}
