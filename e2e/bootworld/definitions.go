package bootworld

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// definitionFiles are those of Cluster API and of its providers that boot images have to do with, by component.
var definitionFiles = map[string][]string{
	providers.Core: {
		"cluster.x-k8s.io_clusters", "cluster.x-k8s.io_machinedeployments", "cluster.x-k8s.io_machinepools", "cluster.x-k8s.io_machines",
		"cluster.x-k8s.io_machinesets",
	},
	providers.AWS: {"infrastructure.cluster.x-k8s.io_awsmachines", "infrastructure.cluster.x-k8s.io_awsmachinetemplates"},
	providers.GCP: {"infrastructure.cluster.x-k8s.io_gcpmachines", "infrastructure.cluster.x-k8s.io_gcpmachinetemplates"},
}

// contracts are the labels by which Cluster API finds the version of a kind that it can read, as kustomizations of modules add
// them.
var contracts = map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2", "cluster.x-k8s.io/v1beta2": "v1beta2"}

// Definitions are the providers' own, of the first releases that have them, with the version of each component. They say nothing of conversion:
// nobody runs the webhooks of providers here.
func Definitions(ctx context.Context) (all []*apiextensionsv1.CustomResourceDefinition, versions map[string]string, err error) {
	modules, err := providers.Modules(ctx, providers.ReleaseOne, providers.Core, providers.AWS)
	if err != nil {
		return nil, nil, err
	}
	gcp, err := providers.Modules(ctx, providers.CloudsTwo, providers.GCP)
	if err != nil {
		return nil, nil, err
	}
	modules = append(modules, gcp...)
	versions = map[string]string{}
	for _, module := range modules {
		versions[module.Component] = module.Version
		for _, name := range definitionFiles[module.Component] {
			text, err := os.ReadFile(filepath.Join(module.Folder, "config", "crd", "bases", name+".yaml"))
			if err != nil {
				return nil, nil, fmt.Errorf("reading a definition of %s: %w", module.Component, err)
			}
			definition, err := crds.Parse(text)
			if err != nil {
				return nil, nil, fmt.Errorf("reading definition %s of %s: %w", name, module.Component, err)
			}
			definition.Labels = contracts
			all = append(all, definition)
		}
	}
	return all, versions, nil
}
