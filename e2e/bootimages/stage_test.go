package bootimages_test

import (
	"context"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// stage is a cluster with an operator at work in it.
type stage struct {
	world    *bootworld.Cluster
	operator *harness.Operator
	metrics  *harness.Metrics
	// from is where in the audit log the spec looks from.
	from cluster.Mark
}

// The APIs whose boot images an operator is asked to manage.
const (
	both           = "MachineAPI,ClusterAPI"
	clusterAPIOnly = "ClusterAPI"
)

// operate starts the operator, with a clock that can be steered.
func (s *stage) operate(ctx context.Context, apis string, arguments ...string) {
	GinkgoHelper()
	var err error
	s.metrics, err = env.NewMetrics()
	Expect(err).NotTo(HaveOccurred())
	s.mark(ctx)
	s.operator, err = env.StartOperator(harness.OperatorOptions{
		SteeredClock: true, Release: s.version(1), Arguments: append(append(s.metrics.Arguments(), "--boot-images="+apis), arguments...),
	})
	Expect(err).NotTo(HaveOccurred())
}

// advance lets the operator believe that time has gone by.
func (s *stage) advance(by time.Duration) {
	GinkgoHelper()
	Expect(s.operator.Advance(by)).To(Succeed())
}

// mark begins a new part of the spec: what was written before counts no more.
func (s *stage) mark(ctx context.Context) {
	GinkgoHelper()
	var err error
	s.from, err = env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
}

// end stops the operator, which must end with exit code 0.
func (s *stage) end() {
	if s.operator == nil {
		return
	}
	if CurrentSpecReport().Failed() {
		log, err := os.ReadFile(s.operator.Log)
		fmt.Fprintf(GinkgoWriter, "\nThe end of %s (%v):\n%s", s.operator.Log, err, log[max(0, len(log)-16<<10):])
	}
	Expect(s.operator.Stop()).To(Succeed())
}
