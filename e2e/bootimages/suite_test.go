// Package bootimages_test is the end-to-end suite of boot images: the operator's binary against a real control plane with the
// definitions of Machine API and Cluster API, seen from outside only. What it writes is counted in the audit log.
package bootimages_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../bin"
	// patience bounds every wait of the suite.
	patience = 60 * time.Second
)

// env is the cluster of the whole suite; each spec begins with on, which empties it.
var env *harness.Environment

func TestBootImages(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Boot images")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	definitions, _, err := bootworld.Definitions(ctx)
	Expect(err).NotTo(HaveOccurred())
	env, err = harness.Start(ctx, harness.Options{Bin: bin, ServiceCA: true, Definitions: definitions})
	Expect(err).NotTo(HaveOccurred())
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

// unless is what is wrong, unless something is so.
func unless(so bool, what string, args ...any) error {
	if so {
		return nil
	}
	return fmt.Errorf(what, args...)
}
