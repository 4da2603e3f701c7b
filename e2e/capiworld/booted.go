package capiworld

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/e2e/booted"
)

// StepAPI held has the endpoint of a cluster be free for a guest that boots.
const StepAPI = "api"

// UserData is what a machine of a cluster is started with, by the Machine's name: the Ignition config of its data Secret. It is an error
// while the Machine has none.
func (w *World) UserData(ctx context.Context, machine Key) ([]byte, error) {
	of := object(clusterv1.GroupVersion.WithKind("Machine"), machine, nil)
	if err := w.API.Get(ctx, machine, of); err != nil {
		return nil, fmt.Errorf("reading Machine %s: %w", machine, err)
	}
	name, _, _ := unstructured.NestedString(of.Object, "spec", "bootstrap", "dataSecretName")
	if name == "" {
		return nil, fmt.Errorf("no data Secret of Machine %s is named yet", machine)
	}
	data := &corev1.Secret{}
	if err := w.API.Get(ctx, Key{Namespace: machine.Namespace, Name: name}, data); err != nil {
		return nil, fmt.Errorf("reading the data Secret of Machine %s: %w", machine, err)
	}
	return data.Data["value"], nil
}

// ProviderID is what the infrastructure calls the machine in memory of a name. It is an error while it has no name there.
func (w *World) ProviderID(ctx context.Context, machine Key) (string, error) {
	of := object(Infrastructure.WithKind("DevMachine"), machine, nil)
	if err := w.API.Get(ctx, machine, of); err != nil {
		return "", fmt.Errorf("reading DevMachine %s: %w", machine, err)
	}
	id, _, _ := unstructured.NestedString(of.Object, "spec", "providerID")
	if id == "" {
		return "", fmt.Errorf("DevMachine %s has no provider ID yet", machine)
	}
	return id, nil
}

// Boot has the bootstrap machine of a cluster boot, by its data Secret alone. The step api of the cluster has to be held.
func (w *World) Boot(ctx context.Context, key Key) (*booted.Guest, error) {
	config, err := w.UserData(ctx, Key{Namespace: key.Namespace, Name: key.Name + "-bootstrap"})
	if err != nil {
		return nil, err
	}
	return booted.Boot(ctx, filepath.Join(w.bin, "controlplane"), config)
}
