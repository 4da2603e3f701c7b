package builtin

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/capstan-capi/capstan/phases/payload"
)

// manifest is an object that is made here, and the file that it goes to.
type manifest struct {
	file   string
	object any
	// keepsStatus is set where a status is part of what an object says at the start.
	keepsStatus bool
}

// generated are the objects that the install-config asks for. Their files are named as the installer names them.
func (c *composition) generated() ([]payload.Placed, error) {
	made := []manifest{
		{file: "manifests/cluster-infrastructure-02-config.yml", object: c.infrastructure(), keepsStatus: true},
		{file: "manifests/cvo-overrides.yaml", object: c.clusterVersion()},
		{file: "manifests/cluster-dns-02-config.yml", object: c.dns()},
		{file: "manifests/cluster-network-02-config.yml", object: c.network()},
		{file: "manifests/cluster-ingress-02-config.yml", object: c.ingress()},
	}
	made = append(made, c.optional()...)
	settings, err := c.settings()
	if err != nil {
		return nil, err
	}
	made = append(made, settings)
	made = append(made, c.credentials()...)
	made = append(made, c.machineConfigs()...)
	placed := make([]payload.Placed, 0, len(made))
	for _, one := range made {
		var object map[string]any
		text, err := json.Marshal(one.object)
		if err == nil {
			err = utiljson.Unmarshal(text, &object)
		}
		if err != nil {
			return nil, fmt.Errorf("writing %s: it is no object", one.file)
		}
		if !one.keepsStatus {
			delete(object, "status")
		}
		prune(object)
		placed = append(placed, payload.Placed{
			Path: one.file, From: []string{"what Capstan makes of the install-config (" + path.Base(one.file) + ")"},
			Object: &unstructured.Unstructured{Object: object},
		})
	}
	return placed, nil
}

// prune takes out what a Go type says although nobody has set it: an API server would refuse such a value in some fields. An
// object that had nothing in it stays, since that can mean something.
func prune(object map[string]any) {
	for name, value := range object {
		switch value := value.(type) {
		case nil:
			delete(object, name)
		case string:
			if value == "" {
				delete(object, name)
			}
		case map[string]any:
			if len(value) == 0 {
				continue
			}
			if prune(value); len(value) == 0 {
				delete(object, name)
			}
		}
	}
}

func config(kind, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
	return metav1.TypeMeta{APIVersion: configv1.GroupVersion.String(), Kind: kind}, metav1.ObjectMeta{Name: name}
}

func (c *composition) clusterVersion() *configv1.ClusterVersion {
	object := &configv1.ClusterVersion{}
	object.TypeMeta, object.ObjectMeta = config("ClusterVersion", "version")
	object.Spec.ClusterID = configv1.ClusterID(c.clusterID())
	if numbers := strings.SplitN(c.Version, ".", 3); len(numbers) == 3 {
		object.Spec.Channel = "stable-" + numbers[0] + "." + numbers[1]
	}
	if given := c.in.Config.Capabilities; given != nil {
		object.Spec.Capabilities = &configv1.ClusterVersionCapabilitiesSpec{
			BaselineCapabilitySet: configv1.ClusterVersionCapabilitySet(given.BaselineCapabilitySet),
		}
		for _, name := range given.AdditionalEnabledCapabilities {
			object.Spec.Capabilities.AdditionalEnabledCapabilities = append(object.Spec.Capabilities.AdditionalEnabledCapabilities, configv1.ClusterVersionCapability(name))
		}
	}
	return object
}

func (c *composition) dns() *configv1.DNS {
	object := &configv1.DNS{}
	object.TypeMeta, object.ObjectMeta = config("DNS", "cluster")
	object.Spec.BaseDomain = c.in.Config.ClusterDomain()
	return object
}

func (c *composition) network() *configv1.Network {
	object := &configv1.Network{}
	object.TypeMeta, object.ObjectMeta = config("Network", "cluster")
	given := c.in.Config.Networking
	object.Spec.NetworkType = given.NetworkType
	object.Spec.ServiceNetwork = given.ServiceNetwork
	object.Spec.ExternalIP = &configv1.ExternalIPConfig{Policy: &configv1.ExternalIPPolicy{}}
	for _, pods := range given.ClusterNetwork {
		object.Spec.ClusterNetwork = append(object.Spec.ClusterNetwork, configv1.ClusterNetworkEntry{CIDR: pods.CIDR, HostPrefix: uint32(pods.HostPrefix)})
	}
	return object
}

func (c *composition) ingress() *configv1.Ingress {
	object := &configv1.Ingress{}
	object.TypeMeta, object.ObjectMeta = config("Ingress", "cluster")
	object.Spec.Domain = "apps." + c.in.Config.ClusterDomain()
	return object
}

// optional are the objects of what few clusters ask for.
func (c *composition) optional() []manifest {
	var made []manifest
	given := &c.in.Config
	if given.Proxy != nil {
		object := &configv1.Proxy{}
		object.TypeMeta, object.ObjectMeta = config("Proxy", "cluster")
		object.Spec = configv1.ProxySpec{HTTPProxy: given.Proxy.HTTPProxy, HTTPSProxy: given.Proxy.HTTPSProxy, NoProxy: given.Proxy.NoProxy}
		if given.AdditionalTrustBundle != "" {
			object.Spec.TrustedCA.Name = trustBundle
		}
		made = append(made, manifest{file: "manifests/cluster-proxy-01-config.yaml", object: object})
	}
	if given.AdditionalTrustBundle != "" {
		made = append(made, manifest{file: "manifests/user-ca-bundle-config.yaml", object: configMap("openshift-config", trustBundle, "ca-bundle.crt", given.AdditionalTrustBundle)})
	}
	if given.FeatureSet != "" {
		object := &configv1.FeatureGate{}
		object.TypeMeta, object.ObjectMeta = config("FeatureGate", "cluster")
		object.Spec.FeatureSet = configv1.FeatureSet(given.FeatureSet)
		made = append(made, manifest{file: "openshift/99_feature-gate.yaml", object: object})
	}
	if sources := slices.Concat(given.ImageDigestSources, given.ImageContentSources); len(sources) > 0 {
		object := &configv1.ImageDigestMirrorSet{}
		object.TypeMeta, object.ObjectMeta = config("ImageDigestMirrorSet", "image-digest-mirror")
		for _, source := range sources {
			one := configv1.ImageDigestMirrors{Source: source.Source}
			for _, mirror := range source.Mirrors {
				one.Mirrors = append(one.Mirrors, configv1.ImageMirror(mirror))
			}
			object.Spec.ImageDigestMirrors = append(object.Spec.ImageDigestMirrors, one)
		}
		made = append(made, manifest{file: "manifests/image-digest-mirror-set.yaml", object: object})
	}
	return made
}

const trustBundle = "user-ca-bundle"

func configMap(namespace, name, key, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{key: text},
	}
}
