package capiworld

import (
	"context"
	"errors"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Guest is an administrator's access to the guest of a cluster, by the kubeconfig that was made for it. It knows Nodes,
// ClusterVersions and ClusterOperators.
func (w *World) Guest(ctx context.Context, key Key) (client.Client, error) {
	kept := &corev1.Secret{}
	if err := w.API.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: secret.Name(key.Name, secret.Kubeconfig)}, kept); err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", key, err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kept.Data[secret.KubeconfigDataName])
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", key, err)
	}
	kinds := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(kinds), configv1.Install(kinds)); err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(configv1.GroupVersion.WithKind("ClusterVersion"), meta.RESTScopeRoot)
	mapper.Add(configv1.GroupVersion.WithKind("ClusterOperator"), meta.RESTScopeRoot)
	return client.New(config, client.Options{Scheme: kinds, Mapper: mapper})
}
