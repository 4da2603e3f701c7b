package cluster_test

import (
	"testing"
	"time"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

const binaries = "../../bin/controlplane"

func TestAClusterIsReadyInFifteenSeconds(t *testing.T) {
	before := time.Now()
	c, err := cluster.Start(t.Context(), cluster.Options{Binaries: binaries, CRDs: crds.All()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %s", time.Since(before))
	before = time.Now()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped after %s", time.Since(before))
}
