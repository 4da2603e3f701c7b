// Package migration_test is the end-to-end suite of the move of hosted clusters to private Cluster API types: the operator's binary
// against a real control plane, seen from outside only. HyperShift's operators and API cannot be had as Go modules: its
// HostedCluster is a definition that keeps whatever fields it is given, and nobody reconciles it. No manager of Cluster API runs
// either: what is moved is what was created.
package migration_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/deploy/privatecapi"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../bin"
	// patience bounds every wait of the suite: a move takes a minute.
	patience = 4 * time.Minute

	standard   = "cluster.x-k8s.io"
	private    = "cluster.hypershift.openshift.io"
	hypershift = "hypershift.openshift.io"
	// version is the one of all definitions here: what nobody converts has one.
	version = "v1beta2"
)

// The cluster of the whole suite, and what reads and writes whatever kinds it has.
var (
	env     *harness.Environment
	objects dynamic.Interface
)

func TestMigration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "moves to private Cluster API types")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	var err error
	env, err = harness.Start(ctx, harness.Options{Bin: bin, Definitions: definitions()})
	Expect(err).NotTo(HaveOccurred())
	objects, err = dynamic.NewForConfig(env.Cluster.Config())
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(4*time.Minute))

var _ = AfterSuite(func() {
	if env != nil {
		Expect(env.Stop()).To(Succeed())
	}
})

// kinds of Cluster API are the core's that the suite moves, in their real schema, and one of a provider.
var kinds = map[string]string{"clusters": "Cluster", "machinesets": "MachineSet", "machines": "Machine"}

const provider = "infrastructure."

// definitions are those of both sides, and the stand-in for HyperShift's.
func definitions() []*apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	shipped, err := privatecapi.Definitions()
	Expect(err).NotTo(HaveOccurred())
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, text := range shipped {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(fromUntyped(text, crd)).To(Succeed())
		if kinds[crd.Spec.Names.Plural] == "" {
			continue
		}
		all = append(all, alone(crd, private), alone(crd, standard))
	}
	return append(all,
		loose(hypershift, "v1beta1", "hostedclusters", "HostedCluster"),
		loose(provider+standard, version, "testmachines", "TestMachine"), loose(provider+private, version, "testmachines", "TestMachine"))
}

// alone is a definition in a group, with one version.
func alone(crd *apiextensionsv1.CustomResourceDefinition, group string) *apiextensionsv1.CustomResourceDefinition {
	made := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Spec.Names.Plural + "." + group}, Spec: *crd.Spec.DeepCopy()}
	made.Spec.Group, made.Spec.Conversion, made.Spec.Versions = group, nil, nil
	for _, v := range crd.Spec.Versions {
		if v.Name == version {
			v.Storage, v.Served = true, true
			made.Spec.Versions = append(made.Spec.Versions, *v.DeepCopy())
		}
	}
	return made
}

// loose is a definition that keeps whatever fields it is given.
func loose(group, version, plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	keeps := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keeps}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// eventually repeats an attempt until it returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}
