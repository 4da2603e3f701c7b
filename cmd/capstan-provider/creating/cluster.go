package creating

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// movedLabel has clusterctl move an object of a kind that is not Cluster API's.
const movedLabel = "clusterctl.cluster.x-k8s.io/move"

// manifestsLabel is by which an OpenShiftControlPlane chooses its manifests; its value is the cluster's name.
const manifestsLabel = "capstan.openshift.io/manifests-of"

func (c *creation) name() string { return c.in.Config.Metadata.Name }

// meta is that of an object of the cluster.
func (c *creation) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: c.name()}}
}

func (c *creation) namespace() *corev1.Namespace {
	return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}
}

func (c *creation) cluster(on infrastructure) *clusterv1.Cluster {
	networking := c.in.Config.Networking
	cluster := &clusterv1.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"},
		ObjectMeta: c.meta(c.name()),
		Spec: clusterv1.ClusterSpec{
			ClusterNetwork: clusterv1.ClusterNetwork{
				Services: clusterv1.NetworkRanges{CIDRBlocks: networking.ServiceNetwork}, ServiceDomain: "cluster.local",
			},
			ControlPlaneEndpoint: on.endpoint,
			ControlPlaneRef:      reference{Kind: v1alpha1.ControlPlaneKind, Name: c.name(), APIGroup: v1alpha1.GroupVersion.Group},
			InfrastructureRef:    on.cluster,
		},
	}
	for _, pods := range networking.ClusterNetwork {
		cluster.Spec.ClusterNetwork.Pods.CIDRBlocks = append(cluster.Spec.ClusterNetwork.Pods.CIDRBlocks, pods.CIDR)
	}
	return cluster
}

func (c *creation) controlPlane(on infrastructure, withManifests bool) *v1alpha1.OpenShiftControlPlane {
	replicas := int32(c.replicas)
	plane := &v1alpha1.OpenShiftControlPlane{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ControlPlaneKind},
		ObjectMeta: c.meta(c.name()),
		Spec: v1alpha1.OpenShiftControlPlaneSpec{
			ReleaseImage:          c.ReleaseImage,
			ReleaseImagePolicy:    cmp.Or(c.ReleaseImagePolicy, v1alpha1.DigestPolicy),
			Replicas:              &replicas,
			MachineTemplate:       v1alpha1.MachineTemplate{Spec: v1alpha1.MachineTemplateSpec{InfrastructureRef: on.controlPlane}},
			BootstrapMachine:      v1alpha1.BootstrapMachine{InfrastructureRef: on.bootstrap, DeletePolicy: v1alpha1.OnComplete},
			InstallStateSecretRef: v1alpha1.LocalReference{Name: c.installSecret()},
			Management:            cmp.Or(c.Management, v1alpha1.Handover),
		},
	}
	if withManifests {
		plane.Spec.ManifestsSelector = &metav1.LabelSelector{MatchLabels: map[string]string{manifestsLabel: c.name()}}
	}
	return plane
}
