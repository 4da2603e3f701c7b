package builtin

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// settings is the ConfigMap by which a cluster knows what install-config it was made of, without what is secret in it.
func (c *composition) settings() (manifest, error) {
	text, err := yaml.Marshal(public(c.in.Raw))
	if err != nil {
		return manifest{}, fmt.Errorf("writing the install-config for ConfigMap kube-system/cluster-config-v1: it is no YAML")
	}
	return manifest{file: "manifests/cluster-config.yaml", object: configMap("kube-system", "cluster-config-v1", "install-config", string(text))}, nil
}

// secretFields are those of install-configs that hold credentials, on any platform.
var secretFields = []string{"pullSecret", "password", "username", "user", "token", "apiKey", "kubeconfig", "clientSecret"}

// public copies a tree without its secret fields.
func public(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		copied := map[string]any{}
		for name, value := range tree {
			if !slices.Contains(secretFields, name) {
				copied[name] = public(value)
			}
		}
		return copied
	case []any:
		copied := make([]any, 0, len(tree))
		for _, value := range tree {
			copied = append(copied, public(value))
		}
		return copied
	}
	return tree
}

// credentials are the objects by which the cluster pulls images and serves machines.
func (c *composition) credentials() []manifest {
	server := c.keys.MachineConfigServer
	return []manifest{
		{file: "manifests/openshift-config-secret-pull-secret.yaml", object: &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config", Name: "pull-secret"},
			Type:       corev1.SecretTypeDockerConfigJson,
			Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(c.in.Config.PullSecret)},
		}},
		{file: "manifests/machine-config-server-tls-secret.yaml", object: &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-machine-config-operator", Name: "machine-config-server-tls"},
			Type:       corev1.SecretTypeTLS,
			Data:       map[string][]byte{corev1.TLSCertKey: server.Certificate, corev1.TLSPrivateKeyKey: server.Key},
		}},
		{file: "manifests/kube-system-configmap-root-ca.yaml", object: configMap("kube-system", "root-ca", "ca.crt", string(c.keys.MachineConfigServerCA.Certificate))},
	}
}

// machineConfigs are those of each role that SSH keys and FIPS ask for.
func (c *composition) machineConfigs() []manifest {
	var made []manifest
	var keys []any
	for _, key := range c.sshKeys() {
		keys = append(keys, key)
	}
	for _, role := range []string{"master", "worker"} {
		if len(keys) > 0 {
			made = append(made, machineConfig("99-"+role+"-ssh", role, map[string]any{"config": map[string]any{
				"ignition": map[string]any{"version": "3.2.0"},
				"passwd":   map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": keys}}},
			}}))
		}
		if c.in.Config.FIPS {
			made = append(made, machineConfig("99-"+role+"-fips", role, map[string]any{
				"config": map[string]any{"ignition": map[string]any{"version": "3.2.0"}}, "fips": true,
			}))
		}
	}
	return made
}

func machineConfig(name, role string, spec map[string]any) manifest {
	return manifest{file: "openshift/99_openshift-machineconfig_" + name + ".yaml", object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1",
		"kind":       "MachineConfig",
		"metadata":   map[string]any{"name": name, "labels": map[string]any{"machineconfiguration.openshift.io/role": role}},
		"spec":       spec,
	}}}
}

// sshKeys are those of the install-config, each once.
func (c *composition) sshKeys() []string {
	var found []string
	for line := range strings.Lines(c.in.Config.SSHKey) {
		if key := strings.TrimSpace(line); key != "" && !slices.Contains(found, key) {
			found = append(found, key)
		}
	}
	return found
}
