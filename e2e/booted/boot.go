package booted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// Guest is a control plane that has booted.
type Guest struct {
	*cluster.Cluster
	// API is the bootstrap's access.
	API client.Client
	// Authority is the certificate, as PEM, of the machine-config server's authority.
	Authority []byte
}

// kinds are the definitions of OpenShift's that manifests and steps need, by their files in the module of its types.
var kinds = []string{
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_dnses-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_infrastructures-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_ingresses-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_networks-Default.crd.yaml",
	"machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigs.crd.yaml",
	"operator/v1/zz_generated.crd-manifests/0000_12_etcd_01_etcds-Default.crd.yaml",
}

// Boot starts a guest from the Ignition config of its bootstrap machine, and returns when its API answers and has its manifests. It lives
// until Stop. The folder of binaries is that of a cluster.Options.
func Boot(ctx context.Context, binaries string, config []byte) (_ *Guest, err error) {
	written, err := provisioned(config)
	if err != nil {
		return nil, err
	}
	port, err := written.port()
	if err != nil {
		return nil, err
	}
	definitions, err := definitions()
	if err != nil {
		return nil, err
	}
	g := &Guest{Authority: written[tlsFolder+"root-ca.crt"]}
	g.Cluster, err = cluster.Start(ctx, cluster.Options{
		Binaries: binaries, Alone: true, Port: port, Identity: written.identity(), CRDs: definitions,
	})
	if err != nil {
		return nil, fmt.Errorf("booting a guest: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Stop())
		}
	}()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), configv1.Install(scheme), operatorv1.Install(scheme)); err != nil {
		return nil, err
	}
	if g.API, err = client.New(g.Config(), client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("building a client of a guest: %w", err)
	}
	if err := g.create(ctx, written); err != nil {
		return nil, err
	}
	return g, nil
}

// Prepare reads what Boot takes from this machine, and a guest has in its release: whoever measures a boot does not measure that.
func Prepare() error {
	_, err := definitions()
	return err
}

// definitions are those of kinds, read once.
var definitions = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	folder, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for the module of OpenShift's types: %w", err)
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range kinds {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), name))
		if err != nil {
			return nil, fmt.Errorf("reading a definition of OpenShift's: %w", err)
		}
		definition, err := crds.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, definition)
	}
	return all, nil
})
