// Package shim_test is the end-to-end suite of the shim of private Cluster API types, and of the fence: the binary, and what deploy
// brings, against a real control plane, seen from outside only.
package shim_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../../bin"
	// patience bounds every wait of the suite.
	patience = 60 * time.Second
)

// env is the cluster of the whole suite, and admin an administrator, who is not told which versions are deprecated.
var (
	env   *harness.Environment
	admin client.Client
	// place is where the definitions of the cluster have the shim, which not every spec starts.
	place *process
)

func TestShim(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The shim of private Cluster API types")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	var err error
	env, err = harness.Start(ctx, harness.Options{Bin: bin, Bare: true})
	Expect(err).NotTo(HaveOccurred())
	config := env.Cluster.Config()
	config.WarningHandler = rest.NoWarnings{}
	admin, err = harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
	place = newShim()
}, NodeTimeout(2*time.Minute))

var _ = AfterSuite(func() {
	if env != nil {
		Expect(env.Stop()).To(Succeed())
	}
})

// eventually repeats an attempt until it returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}
