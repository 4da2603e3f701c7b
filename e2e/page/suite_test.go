//go:build page

// Package page_test sees the page of `capstan dashboard` as its viewers do: in Debian's chromium, whose network is confined to
// loopback, with the real command behind it and a real control plane behind that. It needs a browser, hence the build tag:
// `make test-page`.
package page_test

import (
	"context"
	"flag"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// bin is what make build and make controlplane fill.
const bin = "../../bin"

// patience bounds every wait for what a cluster does, quickly every one for what the page does.
const (
	patience = 60 * time.Second
	quickly  = 15 * time.Second
)

// screenshots is the folder that screenshots are written to; without one none is taken.
var screenshots = flag.String("screenshots", "", "write the docs' screenshots into this `folder`")

// env is the cluster and the registry of the whole suite, and chrome the browser.
var (
	env    *harness.Environment
	chrome *chromium
)

func TestPage(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The page of the dashboard")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	SetDefaultEventuallyTimeout(quickly)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	Expect(harness.Built(bin)).To(Succeed())
	chrome = launch()
	var err error
	env, err = harness.Start(ctx, harness.Options{Bin: bin, ServiceCA: true})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(2*time.Minute))

var _ = AfterSuite(func() {
	if chrome != nil {
		chrome.end()
	}
	if env != nil {
		Expect(env.Stop()).To(Succeed())
	}
})

// until waits for a view of the cluster that satisfies all questions.
func until(ctx context.Context, what string, questions ...func(harness.View) error) harness.View {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := env.Until(ctx, what, harness.All(questions...))
	Expect(err).NotTo(HaveOccurred())
	return v
}
