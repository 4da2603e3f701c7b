// Package private_test proves that unmodified managers of Cluster API can have
// its objects in groups of their own, beside a second release of them in the
// groups of everybody: on one control plane, with real CRDs, webhooks and
// rights, and clusters whose machines are in the memory of the dev provider. It
// sees the managers from outside only, by what is stored and by the audit log,
// and changes none of them. One Cluster in each world is enough for every run;
// the rest, which takes long, is asked for by -whole.
package private_test

import (
	"flag"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// bin is what make build, make controlplane and make worlds fill.
const bin = "../../bin"

// patience bounds every wait for what the managers do.
const patience = 10 * time.Minute

// whole labels what is left out unless all is asked for.
const whole = "whole"

var everything = flag.Bool("whole", false, "run everything, which takes many minutes, instead of one Cluster in each world")

// plane is the control plane that both worlds share; config and api are an administrator's access to it.
var (
	plane  *cluster.Cluster
	config *rest.Config
	api    client.Client
)

func TestPrivate(t *testing.T) {
	RegisterFailHandler(Fail)
	suite, reporter := GinkgoConfiguration()
	if !*everything {
		suite.LabelFilter = "!" + whole
	}
	suite.Timeout = 0 // go test has one
	RunSpecs(t, "Private types of Cluster API", suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(500 * time.Millisecond)
	var err error
	plane, err = cluster.Start(ctx, cluster.Options{Binaries: bin + "/controlplane"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(plane.Stop)
	config = plane.Config()
	// Every older version is deprecated, and asked about.
	config.WarningHandler = rest.NoWarnings{}
	api, err = harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(2*time.Minute))
