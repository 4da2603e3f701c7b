package bootworld

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// Open is the state of the gate in which boot images are moved.
const Open = "Open"

// Gate is what the record of the gate says, which the operator keeps in the ClusterOperator.
type Gate struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// Gate reads the record of the gate; its zero value means that there is none.
func (c *Cluster) Gate(ctx context.Context) (Gate, error) {
	operator := &configv1.ClusterOperator{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: harness.ClusterOperatorName}, operator); err != nil {
		return Gate{}, fmt.Errorf("reading ClusterOperator %s: %w", harness.ClusterOperatorName, err)
	}
	var records struct {
		Gate Gate `json:"bootgate"`
	}
	if raw := operator.Status.Extension.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &records); err != nil {
			return Gate{}, fmt.Errorf("reading the record of the gate: %w", err)
		}
	}
	return records.Gate, nil
}

// Config is the MachineConfiguration as it is now.
func (c *Cluster) Config(ctx context.Context) (*operatorv1.MachineConfiguration, error) {
	now := &operatorv1.MachineConfiguration{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, now); err != nil {
		return nil, fmt.Errorf("reading MachineConfiguration %s: %w", harness.Singleton, err)
	}
	return now, nil
}

// Known is nil once the operator has noted that an image was golden, which it does when the gate is open for it.
func (c *Cluster) Known(ctx context.Context, image string) error {
	stored := &corev1.ConfigMap{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-known-images"}, stored); err != nil {
		return err
	}
	for _, text := range stored.Data {
		if strings.Contains(text, image) {
			return nil
		}
	}
	return fmt.Errorf("%s is not among %d bytes", image, stored.Size())
}

// IgnitionOf is the version of the stub in a Secret as it is now, under key userData or value.
func (c *Cluster) IgnitionOf(ctx context.Context, secret *Object) (string, error) {
	stored := &corev1.Secret{}
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(secret), stored); err != nil {
		return "", fmt.Errorf("reading Secret %s: %w", secret.GetName(), err)
	}
	text := slices.Concat(stored.Data["userData"], stored.Data["value"])
	var stub struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(text, &stub); err != nil {
		return "", fmt.Errorf("reading the stub of Secret %s: %w", secret.GetName(), err)
	}
	return stub.Ignition.Version, nil
}
