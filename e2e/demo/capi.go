package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// useClusterAPI creates a Cluster with Cluster API's own Go type, to show that
// what was installed is served. It returns it with a client that knows the type.
func (d *demonstration) useClusterAPI(ctx context.Context) (client.Client, *clusterv1.Cluster, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, nil, fmt.Errorf("building a scheme: %w", err)
		}
	}
	user, err := client.New(d.stage.Cluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, fmt.Errorf("building a client: %w", err)
	}
	const namespace = "demo"
	if err := user.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, nil, fmt.Errorf("creating namespace %s: %w", namespace, err)
	}
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "my-cluster"},
		Spec: clusterv1.ClusterSpec{
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSCluster", Name: "my-cluster",
			},
		},
	}
	if err := user.Create(ctx, cluster); err != nil {
		return nil, nil, fmt.Errorf("using the installed Cluster API: creating Cluster %s/%s: %w", namespace, cluster.Name, err)
	}
	return user, cluster, nil
}
