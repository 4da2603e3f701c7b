// Package harness sets the stage that the demo and the end-to-end suite share:
// an embedded cluster with OpenShift's definitions, a registry with real
// provider images, and the operator as a child process with exactly the rights
// that deploy gives it. It sees the operator from outside only, by what is in
// the cluster and in the audit log, and judges nothing.
package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	operatorv1 "github.com/openshift/api/operator/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/providers"
	"github.com/capstan-capi/capstan/e2e/registry"
)

// Options of a new environment.
type Options struct {
	// Bin is the folder that make build and make controlplane fill; built
	// provider profiles are kept there too.
	Bin string
	// Dir is the cluster's folder, made when missing and never removed; empty
	// means a temporary one.
	Dir string
	// ServiceCA plays OpenShift's service CA, which writes into what is installed.
	ServiceCA bool
	// Bare leaves out what deploy brings.
	Bare bool
	// NoMutations has operators end that change what a cache keeps, which others read at the same time.
	NoMutations bool
	// Definitions are there from the beginning, beside OpenShift's own, and stay.
	Definitions []*apiextensionsv1.CustomResourceDefinition
}

// Environment is a running cluster and registry, with nothing in the cluster
// but what deploy brings; see Begin. Its methods may be called from several
// goroutines, except that nothing may follow Stop.
type Environment struct {
	Cluster  *cluster.Cluster
	Registry *registry.Registry
	// Client is an administrator's.
	Client client.Client

	bin string
	// noMutations is that of Options.
	noMutations bool
	// baseline is what Begin leaves in the cluster.
	baseline map[types.UID]bool

	clock steeredClock

	mu        sync.Mutex
	operators []*Operator
	pushed    map[string]map[string]string
}

// Start brings up cluster and registry and applies deploy's namespaces and
// RBAC. The context bounds the start only.
func Start(ctx context.Context, o Options) (_ *Environment, err error) {
	bin, err := filepath.Abs(o.Bin)
	if err != nil {
		return nil, fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	e := &Environment{bin: bin, noMutations: o.NoMutations, pushed: map[string]map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	if e.Registry, err = registry.Start(); err != nil {
		return nil, err
	}
	e.Cluster, err = cluster.Start(ctx, cluster.Options{
		Binaries: filepath.Join(bin, "controlplane"), Dir: o.Dir, CRDs: append(crds.All(), o.Definitions...), ServiceCA: o.ServiceCA,
	})
	if err != nil {
		return nil, err
	}
	if e.Client, err = NewClient(e.Cluster.Config()); err != nil {
		return nil, err
	}
	if err := e.playConstraint(ctx); err != nil {
		return nil, err
	}
	if !o.Bare {
		if err := e.applyDeploy(ctx); err != nil {
			return nil, fmt.Errorf("applying the manifests of deploy: %w", err)
		}
	}
	if e.baseline, err = e.inventory(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// NewClient reads and writes all types that the harness knows.
func NewClient(cfg *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, configv1.AddToScheme, machinev1.Install, machinev1beta1.Install,
		operatorv1.Install, operatorv1alpha1.AddToScheme, requirementsv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building a scheme: %w", err)
		}
	}
	made, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return made, nil
}

// Stop ends operators, cluster and registry; nothing is left running. A second
// call does nothing.
func (e *Environment) Stop() error {
	e.mu.Lock()
	operators := e.operators
	e.operators = nil
	e.mu.Unlock()
	var problems []error
	for _, operator := range operators {
		problems = append(problems, operator.Stop())
	}
	if e.Cluster != nil {
		problems = append(problems, e.keepUses(), e.Cluster.Stop())
	}
	if e.Registry != nil {
		problems = append(problems, e.Registry.Stop())
	}
	return errors.Join(problems...)
}

// Build packages the real providers of a release into the folder of binaries.
// The first build of a release takes a minute, later ones nothing.
func Build(ctx context.Context, bin, release string) ([]providers.Profile, error) {
	profiles, err := providers.Build(ctx, providers.Options{
		Release: release, Dir: filepath.Join(bin, "providers"), ManifestsGen: filepath.Join(bin, "manifests-gen"),
	})
	if err != nil {
		return nil, fmt.Errorf("building release %s: %w", release, err)
	}
	return profiles, nil
}

// Built says what is missing in the folder that make build and make controlplane fill.
func Built(bin string) error {
	for _, needed := range []string{"capstan", "capstan-stub", "capi-proxy", "capi-shim", steeredBinary, "manifests-gen", "controlplane/controlplane", "controlplane/kwok"} {
		if _, err := os.Stat(filepath.Join(bin, needed)); err != nil {
			return fmt.Errorf("looking for what `make build controlplane` builds: %w", err)
		}
	}
	return nil
}

// PushFiles makes an image of files, whatever they are, and returns its reference by digest.
func (e *Environment) PushFiles(ctx context.Context, repository string, files map[string][]byte) (string, error) {
	image, err := providers.Image(files)
	if err != nil {
		return "", fmt.Errorf("making image %s: %w", repository, err)
	}
	return providers.PushImage(ctx, e.Registry.Host(), repository, image)
}

// Push builds a release if need be, pushes it to the registry and returns the
// references by component, all by digest.
func (e *Environment) Push(ctx context.Context, release string) (map[string]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.pushed[release]; known != nil {
		return maps.Clone(known), nil
	}
	profiles, err := Build(ctx, e.bin, release)
	if err != nil {
		return nil, err
	}
	references, err := providers.Push(ctx, e.Registry.Host(), profiles)
	if err != nil {
		return nil, fmt.Errorf("pushing release %s: %w", release, err)
	}
	e.pushed[release] = references
	return maps.Clone(references), nil
}
