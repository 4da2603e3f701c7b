package capiworld

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// Infrastructure is the group of the dev provider's kinds.
var Infrastructure = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}

// HoldAnnotation of a DevCluster names the steps that its guest is not to take yet, with commas between: api, complete, etcd,
// operators, members, upgrade, or that it is to lack credentials, kinds or haste; ReleaseAnnotation the version that it says it has, and
// IDAnnotation the Secret that says which cluster it is. What they mean is told in e2e/capi/guest.
const (
	HoldAnnotation    = "devinfra.example.com/hold"
	ReleaseAnnotation = "devinfra.example.com/release"
	IDAnnotation      = "devinfra.example.com/id-of"
)

// ProbesPath of a guest's API tells everybody how often it was asked whether it is ready.
const ProbesPath = "/devinfra/probes"

// Key is a cluster by its namespace and name.
type Key = client.ObjectKey

// object is an object of a kind with a spec.
func object(of schema.GroupVersionKind, key Key, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(of)
	o.SetNamespace(key.Namespace)
	o.SetName(key.Name)
	return o
}

// DevCluster is infrastructure in memory of a cluster whose API is at a port of the loopback. It has an annotation in any case: the
// dev provider panics without one.
func DevCluster(key Key, port int, held string) *unstructured.Unstructured {
	made := object(Infrastructure.WithKind("DevCluster"), key, map[string]any{
		"controlPlaneEndpoint": map[string]any{"host": "127.0.0.1", "port": int64(port)},
		"backend":              map[string]any{"inMemory": map[string]any{}},
	})
	made.SetAnnotations(map[string]string{HoldAnnotation: held})
	return made
}

// Cluster is one on a DevCluster of its name, with an OpenShiftControlPlane of its name unless it has none.
func Cluster(key Key, controlPlane bool) *clusterv1.Cluster {
	made := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: clusterv1.ClusterSpec{
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: Infrastructure.Group, Kind: "DevCluster", Name: key.Name},
		},
	}
	if controlPlane {
		made.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: OpenShift.Group, Kind: "OpenShiftControlPlane", Name: key.Name}
	}
	return made
}

// OpenShift is the group of the kinds by which clusters of OpenShift are asked for.
var OpenShift = schema.GroupVersion{Group: "cluster.openshift.io", Version: "v1alpha1"}

// Create makes objects as an administrator does, one after the other.
func (w *World) Create(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := w.API.Create(ctx, o, harness.Administrator); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// CreateNamespace makes one for clusters.
func (w *World) CreateNamespace(ctx context.Context, name string) error {
	return w.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// Hold has the guest of a cluster take all steps but these, which it takes once they are held no longer.
func (w *World) Hold(ctx context.Context, key Key, held string) error {
	of := object(Infrastructure.WithKind("DevCluster"), key, nil)
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, HoldAnnotation, held))
	if err := w.API.Patch(ctx, of, patch, harness.Administrator); err != nil {
		return fmt.Errorf("holding %q of %s: %w", held, key, err)
	}
	return nil
}
