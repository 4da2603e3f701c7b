package bootimages_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// gcpModule is no module of this suite; where it is, the pins of providers say.
const gcpModule = "sigs.k8s.io/cluster-api-provider-gcp"

// definitionFiles are those of Cluster API and of its providers that boot images have to do with, by module.
var definitionFiles = map[string][]string{
	"sigs.k8s.io/cluster-api": {
		"cluster.x-k8s.io_clusters", "cluster.x-k8s.io_machinedeployments", "cluster.x-k8s.io_machinepools", "cluster.x-k8s.io_machines",
		"cluster.x-k8s.io_machinesets",
	},
	"sigs.k8s.io/cluster-api-provider-aws/v2": {
		"infrastructure.cluster.x-k8s.io_awsmachines", "infrastructure.cluster.x-k8s.io_awsmachinetemplates",
	},
	gcpModule: {
		"infrastructure.cluster.x-k8s.io_gcpmachines", "infrastructure.cluster.x-k8s.io_gcpmachinetemplates",
	},
}

// contracts are the labels by which Cluster API finds the version of a kind that it can read, as kustomizations of modules add
// them.
var contracts = map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2", "cluster.x-k8s.io/v1beta2": "v1beta2"}

// clusterAPIDefinitions are the modules' own, which say nothing of conversion: nobody runs the webhooks of providers here.
func clusterAPIDefinitions(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for module, names := range definitionFiles {
		dir, err := moduleDir(ctx, module)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(dir, "config", "crd", "bases", name+".yaml"))
			if err != nil {
				return nil, fmt.Errorf("reading a definition of %s: %w", module, err)
			}
			definition, err := crds.Parse(text)
			if err != nil {
				return nil, fmt.Errorf("reading definition %s of %s: %w", name, module, err)
			}
			definition.Labels = contracts
			all = append(all, definition)
		}
	}
	return all, nil
}

// moduleDir is where the Go client keeps a module.
func moduleDir(ctx context.Context, module string) (string, error) {
	if module == gcpModule {
		return providers.Module(ctx, providers.CloudsTwo, providers.GCP)
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("finding module %s: %w", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}
