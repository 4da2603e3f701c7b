// Package capiworld is a management plane of Cluster API on which clusters of OpenShift are made: Capstan's operator installs Cluster
// API's core, infrastructure in memory and whatever provider images a suite adds, from images that a loopback registry serves, and the
// managers run as processes of this machine, each with the arguments and the ServiceAccount of the Deployment that was installed. What a
// Pod has and a process has not, such as a mounted Secret or the address of a Pod, a flag more says, and how much Cluster API does at once
// on so few processors. Webhooks are never called, since
// what they are for is in the namespace of Cluster API and clusters are elsewhere. It makes no cluster by itself, and judges nothing.
package capiworld

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// Options of a world.
type Options struct {
	// Bin is the folder that make build, make controlplane and make capi fill.
	Bin string
	// Dir is the folder to work in; see harness.Options.
	Dir string
	// Layout is the OCI layout of the provider's image, as make provider-image writes it; its program runs then, and has no steered clock.
	// Empty for an image of manifests alone, which is made here, and the program in Bin.
	Layout string
	// NoMutations is that of harness.Options, for the operator and the provider.
	NoMutations bool
	// Direct has the provider speak to the API server itself, and not by way of a proxy, which takes its part of the processors.
	Direct bool
}

// World is a management plane.
type World struct {
	*harness.Environment
	// API is an administrator's access, which knows the kinds of Cluster API.
	API client.Client

	bin      string
	operator *harness.Operator
	managers map[string]*Manager
	// image is the provider's where it is a whole one, nil otherwise.
	image v1.Image
	// direct is that of the options.
	direct bool
	// ports are for the world's clusters, and endpoints is how many are taken.
	ports     ports
	endpoints atomic.Int32
}

// Start brings up the control plane and has Capstan install the providers; it returns when each is installed and its manager ready.
func Start(ctx context.Context, o Options) (_ *World, err error) {
	bin, err := filepath.Abs(o.Bin)
	if err != nil {
		return nil, fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	if err := Built(bin); err != nil {
		return nil, err
	}
	w := &World{bin: bin, managers: map[string]*Manager{}, direct: o.Direct}
	if w.ports, err = takePorts(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Stop())
		}
	}()
	if w.Environment, err = harness.Start(ctx, harness.Options{Bin: bin, Dir: o.Dir, ServiceCA: true, NoMutations: o.NoMutations}); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), clusterv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	if w.API, err = client.New(w.Cluster.Config(), client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	if err := w.install(ctx, o.Layout); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if err := w.StartManager(ctx, name); err != nil {
			return nil, err
		}
	}
	for _, m := range w.managers {
		if err := m.Ready(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Built says what is missing in the folder of binaries.
func Built(bin string) error {
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join(bin, p.binary)); err != nil {
			return fmt.Errorf("looking for what `make build capi` builds: %w", err)
		}
	}
	return harness.Built(bin)
}

// install has Capstan install the providers.
func (w *World) install(ctx context.Context, layout string) error {
	images, err := w.Push(ctx, providers.OpenShift)
	if err != nil {
		return err
	}
	if images[providers.OpenShiftInstall], err = w.pushOwn(ctx, layout); err != nil {
		return err
	}
	if err := w.Begin(ctx, harness.World{Platform: configv1.NonePlatformType, Images: images}); err != nil {
		return err
	}
	if w.operator, err = w.StartOperator(harness.OperatorOptions{}); err != nil {
		return err
	}
	_, err = w.Until(ctx, "the providers to be installed", harness.Settled(1))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.Account(context.WithoutCancel(ctx), w.operator))
	}
	return nil
}

// Manager is that of a Deployment, nil if there is none.
func (w *World) Manager(deployment string) *Manager { return w.managers[deployment] }

// Endpoint is a port of the loopback at which the API of a cluster can be; no other cluster of the world gets the same.
func (w *World) Endpoint() int { return w.ports.first + portsOfAWorld/2 + int(w.endpoints.Add(1)) - 1 }

// Alive is an error once a manager or the operator has ended by itself.
func (w *World) Alive() error {
	var problems []error
	for _, m := range w.managers {
		problems = append(problems, m.alive())
	}
	return errors.Join(problems...)
}

// Revive starts those managers of the installed Deployments anew that have ended, as a kubelet would, and waits until they are ready: what one
// spec has left dead must not fail all that follows. It returns which ones it has started.
func (w *World) Revive(ctx context.Context) (revived []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		m := w.managers[name]
		if m == nil || !m.hasEnded() {
			continue
		}
		if err := m.Start(m.more...); err != nil {
			return revived, err
		}
		revived = append(revived, name)
	}
	for _, name := range revived {
		if err := w.managers[name].Ready(ctx); err != nil {
			return revived, err
		}
	}
	return revived, nil
}

// Stop ends everything.
func (w *World) Stop() error {
	var problems []error
	for _, m := range w.managers {
		problems = append(problems, m.close())
	}
	if w.Environment != nil {
		problems = append(problems, w.Environment.Stop())
	}
	problems = append(problems, w.ports.give())
	w.ports = ports{}
	return errors.Join(problems...)
}
