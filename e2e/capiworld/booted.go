package capiworld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/e2e/booted"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// What is held of a guest: StepAPI has the endpoint of a cluster be free for a guest that boots, NoCredentials has the guest take nobody's
// certificate, NoKinds has it not serve the groups of OpenShift, and NoHaste has it let everybody wait for each answer.
const (
	StepAPI       = "api"
	NoCredentials = "credentials"
	NoKinds       = "kinds"
	NoHaste       = "haste"
)

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

// Boot has the bootstrap machine of a cluster boot, by its data Secret alone. The step api of the cluster has to be held. It is an error
// while there is no such Secret.
func (w *World) Boot(ctx context.Context, key Key) (*booted.Guest, error) {
	config, err := w.UserData(ctx, Key{Namespace: key.Namespace, Name: key.Name + "-bootstrap"})
	if err != nil {
		return nil, err
	}
	return booted.Boot(ctx, filepath.Join(w.bin, "controlplane"), config)
}

// Join has the control-plane machine of a number read what it is started with, a pointer that only machines of the same authority can
// follow, and its kubelet join the guest. It returns the URL that is pointed to, and is an error while there is no such machine.
func (w *World) Join(ctx context.Context, guest *booted.Guest, key Key, number int) (string, error) {
	machine := Key{Namespace: key.Namespace, Name: fmt.Sprintf("%s-%d", key.Name, number)}
	id, err := w.ProviderID(ctx, machine)
	if err != nil {
		return "", err
	}
	config, err := w.UserData(ctx, machine)
	if err != nil {
		return "", err
	}
	pointer, err := booted.PointerOf(config)
	if err != nil {
		return "", fmt.Errorf("what Machine %s is started with: %w", machine, err)
	}
	if !bytes.Equal(pointer.Trusts, guest.Authority) {
		return "", fmt.Errorf("what Machine %s is started with trusts another authority than the guest's", machine)
	}
	return pointer.URL, guest.Join(ctx, machine.Name, id)
}

// BringUp boots the guest of a cluster that is asked for, with the step api held, as soon as it has what it needs, and brings it up without
// a look at what the provider makes of it: all machines join, the bootstrap ends, and the operators settle. It returns what the machines
// point to, too. Whoever calls it stops the guest.
func (w *World) BringUp(ctx context.Context, asked *Asked, version string) (guest *booted.Guest, pointers []string, err error) {
	err = harness.Eventually(ctx, "the data of the bootstrap machine", func(ctx context.Context) (err error) {
		_, err = w.UserData(ctx, Key{Namespace: asked.Key.Namespace, Name: asked.Key.Name + "-bootstrap"})
		return errors.Join(w.Alive(), err)
	})
	if err != nil {
		return nil, nil, err
	}
	if guest, err = w.Boot(ctx, asked.Key); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, guest.Stop())
		}
	}()
	replicas, _, _ := unstructured.NestedInt64(asked.ControlPlane.Object, "spec", "replicas")
	for number := range int(replicas) {
		err := harness.Eventually(ctx, fmt.Sprintf("machine %d of %s", number, asked.Key), func(ctx context.Context) error {
			pointer, err := w.Join(ctx, guest, asked.Key, number)
			if err == nil {
				pointers = append(pointers, pointer)
			}
			return errors.Join(w.Alive(), err)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if err := guest.Complete(ctx); err != nil {
		return nil, nil, err
	}
	image, _, _ := unstructured.NestedString(asked.ControlPlane.Object, "spec", "releaseImage")
	return guest, pointers, guest.Settle(ctx, version, image)
}
