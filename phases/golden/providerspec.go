package golden

import (
	"encoding/json"
	"errors"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	kjson "sigs.k8s.io/json"

	"github.com/capstan-capi/capstan/message"
)

// providerSpec has the fields of a provider spec, each undecoded: what is not asked for is neither judged nor lost.
type providerSpec map[string]json.RawMessage

// providerKinds are the kinds of provider specs. Their group has changed in the past, the kind has not.
var providerKinds = map[configv1.PlatformType]string{
	configv1.AWSPlatformType:     "AWSMachineProviderConfig",
	configv1.GCPPlatformType:     "GCPMachineProviderSpec",
	configv1.AzurePlatformType:   "AzureMachineProviderSpec",
	configv1.VSpherePlatformType: "VSphereMachineProviderSpec",
}

// readProviderSpec reads the provider spec of a platform.
func readProviderSpec(raw []byte, platform configv1.PlatformType) (providerSpec, error) {
	if len(raw) == 0 {
		return nil, errors.New("there is no provider spec")
	}
	var spec providerSpec
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, fmt.Errorf("reading the provider spec: %w", err)
	}
	if len(spec) == 0 {
		return nil, errors.New("the provider spec is empty")
	}
	var kind string
	if err := spec.read("kind", &kind); err != nil {
		return nil, err
	}
	if want := providerKinds[platform]; kind != "" && kind != want {
		return nil, fmt.Errorf("the provider spec is of kind %q, and those of platform %s are of kind %s", message.Shorten(kind, maxTold), platform, want)
	}
	return spec, nil
}

// read decodes a field, if it is there.
func (s providerSpec) read(field string, into any) error {
	raw, found := s[field]
	if !found {
		return nil
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, into); err != nil {
		return fmt.Errorf("reading %s of the provider spec: %s", field, message.Shorten(err.Error(), maxTold))
	}
	return nil
}
