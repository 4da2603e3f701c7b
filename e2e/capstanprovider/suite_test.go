// Package capstanprovider_test is the end-to-end suite of what people type of capstan-provider: create, apply, watch and explain,
// against API servers with the real definitions of Cluster API, its providers for AWS and for machines in memory, and our own. Nothing
// reconciles: what the provider says of a cluster is written by the specs, so that each state can be had at once.
package capstanprovider_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/providers"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../bin"
	// patience bounds every wait of the suite; a busy machine takes long.
	patience = time.Minute
)

var (
	plane  *cluster.Cluster
	client dynamic.Interface
)

func TestCapstanProvider(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "What people type of capstan-provider")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	var err error
	plane, err = cluster.Start(ctx, cluster.Options{Binaries: filepath.Join(bin, "controlplane"), Alone: true, CRDs: definitions(ctx)})
	Expect(err).NotTo(HaveOccurred())
	client, err = dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(5*time.Minute))

var _ = AfterSuite(func() {
	if plane != nil {
		Expect(plane.Stop()).To(Succeed())
	}
})

// definitions are those of the kinds that are made here, as their authors published them. Webhooks, which nobody serves, are not in them.
func definitions(ctx context.Context) []*apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	folder := map[string]string{"ours": "../../config/crd"}
	for release, wanted := range map[string][]string{providers.ReleaseOne: {providers.Core, providers.AWS}, providers.OpenShift: {providers.Dev}} {
		modules, err := providers.Modules(ctx, release, wanted...)
		Expect(err).NotTo(HaveOccurred())
		for _, m := range modules {
			folder[m.Component] = filepath.Join(m.Folder, "config/crd/bases")
			if m.Component == providers.Dev {
				folder[m.Component] = filepath.Join(m.Folder, "infrastructure/docker/config/crd/bases")
			}
		}
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for from, files := range map[string][]string{
		"ours":         {"cluster.openshift.io_openshiftcontrolplanes", "cluster.openshift.io_openshiftconfigs", "cluster.openshift.io_openshiftconfigtemplates"},
		providers.Core: {"cluster.x-k8s.io_clusters", "cluster.x-k8s.io_machines", "cluster.x-k8s.io_machinedeployments"},
		providers.AWS: {
			"infrastructure.cluster.x-k8s.io_awsclusters", "infrastructure.cluster.x-k8s.io_awsmachinetemplates", "infrastructure.cluster.x-k8s.io_awsclusterstaticidentities",
		},
		providers.Dev: {"infrastructure.cluster.x-k8s.io_devclusters", "infrastructure.cluster.x-k8s.io_devmachinetemplates"},
	} {
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(folder[from], file+".yaml"))
			Expect(err).NotTo(HaveOccurred())
			definition := &apiextensionsv1.CustomResourceDefinition{}
			Expect(yaml.Unmarshal(text, definition)).To(Succeed())
			all = append(all, definition)
		}
	}
	slices.SortFunc(all, func(a, b *apiextensionsv1.CustomResourceDefinition) int {
		return slices.Compare([]string{a.Name}, []string{b.Name})
	})
	return all
}

// namespaces counts those that specs were given.
var namespaces int

// newNamespace is the name of one that is not there.
func newNamespace() string {
	namespaces++
	return fmt.Sprintf("fleet-%d", namespaces)
}
