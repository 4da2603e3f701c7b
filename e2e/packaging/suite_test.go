// Package packaging_test is the end-to-end suite of manifests-gen: what its
// binary makes of a real provider does in a real API server what it is made for.
package packaging_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// bin is what make build and make controlplane fill.
const bin = "../../bin"

// client is an administrator's, of the cluster of the whole suite.
var client *dynamic.DynamicClient

func TestPackaging(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The packaging tool")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	for _, needed := range []string{"manifests-gen", "controlplane/controlplane", "controlplane/kwok"} {
		_, err := os.Stat(filepath.Join(bin, needed))
		Expect(err).NotTo(HaveOccurred(), "the suite runs what `make build controlplane` builds")
	}
	c, err := cluster.Start(ctx, cluster.Options{Binaries: filepath.Join(bin, "controlplane"), CRDs: crds.All()})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(c.Stop)
	client, err = dynamic.NewForConfig(c.Config())
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(2*time.Minute))
