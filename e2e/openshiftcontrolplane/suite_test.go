// Package openshiftcontrolplane_test is the end-to-end suite of the machine openshiftcontrolplane: Capstan's operator installs Cluster
// API, infrastructure in memory and the provider from images, and clusters of OpenShift are made as people make them. Machines,
// kubelets, operators and clouds are simulated, and no payload boots. It looks at what is stored and at the audit log, and never at the
// managers' insides.
package openshiftcontrolplane_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// bin is what make build, make controlplane and make capi fill.
const bin = "../../bin"

// long labels what the suite leaves out unless all of it is asked for.
const long = "long"

var full = flag.Bool("full", false, "run everything, which takes many minutes, instead of a selection")

// patience bounds every wait of the suite; a busy machine takes long.
const patience = 2 * time.Minute

// world is the management plane of the whole suite. Each spec has a namespace of its own.
var world *capiworld.World

func TestOpenShiftControlPlane(t *testing.T) {
	RegisterFailHandler(Fail)
	suite, reporter := GinkgoConfiguration()
	if suite.LabelFilter == "" && !*full {
		suite.LabelFilter = "!" + long
	}
	suite.Timeout = 0 // go test has one
	RunSpecs(t, "The machine openshiftcontrolplane", suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	var err error
	world, err = capiworld.Start(ctx, capiworld.Options{Bin: bin, NoMutations: true})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(5*time.Minute))

var _ = AfterSuite(func() {
	if world != nil {
		Expect(world.Stop()).To(Succeed())
	}
})

// A manager that an earlier spec has left dead fails that one, and none that follows.
var _ = BeforeEach(func(ctx SpecContext) {
	revived, err := world.Revive(ctx)
	Expect(err).NotTo(HaveOccurred())
	if len(revived) > 0 {
		AddReportEntry("started anew", strings.Join(revived, ", "))
	}
}, NodeTimeout(patience))

var _ = AfterEach(func(ctx SpecContext) {
	if CurrentSpecReport().Failed() {
		GinkgoWriter.Print(world.Tell(ctx))
	}
}, NodeTimeout(30*time.Second))

// namespaces counts those that specs were given.
var namespaces int

func namespaceOf(number int) string { return fmt.Sprintf("guests-%d", number) }

// newKey is a name for a cluster in a namespace of its own.
func newKey(ctx context.Context) capiworld.Key {
	GinkgoHelper()
	namespaces++
	key := capiworld.Key{Namespace: namespaceOf(namespaces), Name: "one"}
	Expect(world.CreateNamespace(ctx, key.Namespace)).To(Succeed())
	return key
}

// eventually repeats an attempt until it returns nil, or until a manager has ended.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	within(ctx, patience, what, attempt)
}

// within is eventually for what takes long.
func within(ctx context.Context, long time.Duration, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeoutCause(ctx, long, fmt.Errorf("%s is too long", long))
	defer cancel()
	Expect(harness.Eventually(ctx, what, func(ctx context.Context) error {
		Expect(world.Alive()).To(Succeed())
		return attempt(ctx)
	})).To(Succeed())
}
