// Package migration_test is the end-to-end suite of the move of hosted clusters to private Cluster API types: the operator's binary
// against a real control plane, seen from outside only. HyperShift's operators and API cannot be had as Go modules: its
// HostedCluster is a definition that keeps whatever fields it is given, and nobody reconciles it. Where what is moved is compared field
// by field, no manager of Cluster API runs either: what is moved is what was created. Where several hosted clusters are moved, or
// something goes wrong, they are those of e2e/hostedworld, whose components work. A part of that takes many minutes, and is left out
// unless all is asked for by -whole.
package migration_test

import (
	"context"
	"flag"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../bin"
	// patience bounds every wait of the suite: a move takes a minute, and a busy machine several.
	patience = 10 * time.Minute

	standard   = "cluster.x-k8s.io"
	private    = "cluster.hypershift.openshift.io"
	hypershift = "hypershift.openshift.io"
	// version is the one of all definitions here: what nobody converts has one.
	version = "v1beta2"
)

// whole labels what is left out unless all is asked for.
const whole = "whole"

var everything = flag.Bool("whole", false, "run everything, which takes many minutes, instead of a selection")

// The cluster of the whole suite, and what reads and writes whatever kinds it has.
var (
	env     *harness.Environment
	objects dynamic.Interface
)

func TestMigration(t *testing.T) {
	RegisterFailHandler(Fail)
	suite, reporter := GinkgoConfiguration()
	if suite.LabelFilter == "" && !*everything {
		suite.LabelFilter = "!" + whole
	}
	suite.Timeout = 0 // go test has one
	RunSpecs(t, "moves to private Cluster API types", suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	definitions, err := hostedworld.DefinitionsWith("testmachines", "TestMachine")
	Expect(err).NotTo(HaveOccurred())
	for _, base := range []string{standard, private} { // of e2e/hostedworld's own provider
		definitions = append(definitions, hostedworld.Loose(provider+base, version, "inmemorymachines", "InMemoryMachine"))
	}
	env, err = harness.Start(ctx, harness.Options{Bin: bin, Definitions: definitions})
	Expect(err).NotTo(HaveOccurred())
	objects, err = dynamic.NewForConfig(env.Cluster.Config())
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(4*time.Minute))

var _ = AfterSuite(func() {
	if env != nil {
		Expect(env.Stop()).To(Succeed())
	}
})

const provider = "infrastructure."

// eventually repeats an attempt until it returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}
