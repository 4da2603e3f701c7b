package booted

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operators are some of those that each cluster has.
var operators = []string{"authentication", "etcd", "kube-apiserver", "network"}

// Join has the kubelet of a machine, by its name and the ID that its infrastructure gave it, tell of itself.
func (g *Guest) Join(ctx context.Context, name, providerID string) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/master": ""}},
		Spec:       corev1.NodeSpec{ProviderID: providerID},
	}
	return g.tell(ctx, node, func() {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Played"}}
	})
}

// Complete has the bootstrap tell its end, and etcd have no member there any more.
func (g *Guest) Complete(ctx context.Context) error {
	end := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap"}, Data: map[string]string{"status": "complete"},
	}
	if err := g.API.Create(ctx, end); err != nil {
		return fmt.Errorf("telling the end of the bootstrap: %w", err)
	}
	empty := runtime.RawExtension{Raw: []byte(`{}`)}
	etcd := &operatorv1.Etcd{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	etcd.Spec.ManagementState, etcd.Spec.ObservedConfig, etcd.Spec.UnsupportedConfigOverrides = operatorv1.Managed, empty, empty
	return g.tell(ctx, etcd, func() {
		etcd.Status.Conditions = []operatorv1.OperatorCondition{{
			Type: "EtcdBootstrapMemberRemoved", Status: operatorv1.ConditionTrue, Reason: "Played", LastTransitionTime: metav1.Now(),
		}}
	})
}

// Settle has all operators have a version, and the ClusterVersion that the manifests made be at it.
func (g *Guest) Settle(ctx context.Context, version, image string) error {
	settled := []configv1.ClusterOperatorStatusCondition{
		said("Available", configv1.ConditionTrue), said("Progressing", configv1.ConditionFalse), said("Degraded", configv1.ConditionFalse),
	}
	for _, name := range operators {
		one := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: name}}
		err := g.tell(ctx, one, func() {
			one.Status.Conditions, one.Status.Versions = settled, []configv1.OperandVersion{{Name: "operator", Version: version}}
		})
		if err != nil {
			return err
		}
	}
	is := &configv1.ClusterVersion{}
	if err := g.API.Get(ctx, client.ObjectKey{Name: "version"}, is); err != nil {
		return fmt.Errorf("reading the ClusterVersion: %w", err)
	}
	now := metav1.Now()
	is.Status = configv1.ClusterVersionStatus{
		Desired: configv1.Release{Version: version, Image: image}, ObservedGeneration: is.Generation,
		History:    []configv1.UpdateHistory{{State: configv1.CompletedUpdate, StartedTime: now, CompletionTime: &now, Version: version, Image: image}},
		Conditions: append(settled[:2:2], said("Failing", configv1.ConditionFalse)),
	}
	// Whole, since the definition requires what a patch would leave out; that it lacks a field of spec is a warning.
	return g.API.Status().Update(ctx, is)
}

func said(of configv1.ClusterStatusConditionType, status configv1.ConditionStatus) configv1.ClusterOperatorStatusCondition {
	return configv1.ClusterOperatorStatusCondition{Type: of, Status: status, Reason: "Played", LastTransitionTime: metav1.Now()}
}

// tell creates an object, and then the status that is set in it.
func (g *Guest) tell(ctx context.Context, o client.Object, status func()) error {
	if err := g.API.Create(ctx, o); err != nil {
		return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
	}
	status()
	if err := g.API.Status().Update(ctx, o); err != nil {
		return fmt.Errorf("telling the status of %T %s: %w", o, o.GetName(), err)
	}
	return nil
}
