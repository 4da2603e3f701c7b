package main

import (
	"context"
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// cacheOptions keep only what the machine reads: two ConfigMaps, the pull secrets, one ClusterOperator.
func (f *operatorFlags) cacheOptions() cache.Options {
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: only(
			types.NamespacedName{Namespace: f.operatorNamespace, Name: phases.ImagesConfigMap},
			types.NamespacedName{Namespace: phases.ConfigNamespace, Name: phases.UserCABundle},
		),
		&corev1.Secret{}:            only(f.pullSecretKeys()...),
		&configv1.ClusterOperator{}: {Field: fields.OneTermEqualSelector("metadata.name", phases.ClusterOperatorName)},
	}}
}

// fillCaches has all of what the controllers watch listed at the same time as soon as the manager starts. Otherwise
// the namespaces of a kind are listed one after the other, and each is looked at again only every tenth of a second.
func fillCaches(ctx context.Context, in cache.Cache) error {
	for _, kind := range []client.Object{
		&operatorv1alpha1.ClusterAPI{}, &configv1.Infrastructure{}, &configv1.APIServer{}, &configv1.ClusterOperator{},
		&configv1.ImageDigestMirrorSet{}, &corev1.ConfigMap{}, &corev1.Secret{},
	} {
		if _, err := in.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
	}
	return nil
}

// only watches these objects, or their whole namespace where there are several in one: a watch cannot name two objects.
func only(keys ...types.NamespacedName) cache.ByObject {
	in := map[string]cache.Config{}
	for _, key := range keys {
		config := cache.Config{FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name)}
		if other, several := in[key.Namespace]; several && other.FieldSelector.String() != config.FieldSelector.String() {
			config.FieldSelector = fields.Everything()
		}
		in[key.Namespace] = config
	}
	return cache.ByObject{Namespaces: in}
}

func (f *operatorFlags) pullSecretKeys() []types.NamespacedName {
	var keys []types.NamespacedName
	for _, text := range f.pullSecrets {
		namespace, name, _ := strings.Cut(text, "/")
		keys = append(keys, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return keys
}

func notAKey(text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	return namespace == "" || name == "" || strings.Contains(name, "/")
}
