package main

import (
	"strings"

	configv1 "github.com/openshift/api/config/v1"
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
