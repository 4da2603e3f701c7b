// Package engine_test is the acceptance suite of phases/engine: one spec per acceptance case of the engine's contract,
// on a real control plane, with the audit log as witness of what was and was not sent. It is the one suite that calls
// what it tests in process, because most cases lie below what the operator can be made to do; it sees no more of the
// engine than what is exported. Engines are told apart in the audit log by their user agents.
//
// Every spec has a world of its own (see begin): a namespace, an identity of the installation and a prefix of names.
// Nothing else is shared, so that specs may run in any order, side by side with the property test. The name of a spec
// begins with the number of its case; the suite fails when a case has no spec.
package engine_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// binaries is what make controlplane fills.
const binaries = "../../bin/controlplane"

// patience bounds every wait of the suite. All that is waited for takes seconds; a busy machine may take longer.
const patience = 30 * time.Second

// controlPlane is the one cluster of all specs and of the property test.
var controlPlane = sync.OnceValues(func() (*cluster.Cluster, error) {
	return cluster.Start(context.Background(), cluster.Options{Binaries: binaries, ServiceCA: true})
})

func TestMain(m *testing.M) {
	ctrllog.SetLogger(klog.NewKlogr())
	if text := os.Getenv(childVariable); text != "" {
		beChild(text)
	}
	code := m.Run()
	if c, err := controlPlane(); err == nil {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func TestEngine(t *testing.T) {
	if _, err := controlPlane(); err != nil {
		t.Fatal(err)
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "The engine")
}

// shared is the running control plane.
func shared() *cluster.Cluster {
	c, err := controlPlane()
	if err != nil {
		panic(err)
	}
	return c
}
