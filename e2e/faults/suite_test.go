// Package faults_test does to the operator, to its API server, to its registry
// and to its cluster what happens to them on bad days, in every state of the
// machine, and sees that the operator says what is wrong, harms nothing and
// heals. What is expected is declared in one table (matrix_test.go), from which
// the specs, the report and docs/fault-matrix.md come. It refuses to look at the
// operator's insides.
package faults_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

var (
	bin   = flag.String("bin", "../../bin", "`folder` that make build and make controlplane fill")
	full  = flag.Bool("full", false, "run everything, which takes many minutes, instead of a selection")
	soak  = flag.Duration("soak", 0, "for `how long` the operator is worked on before it must come to rest; 0 leaves that out")
	seeds = seedFlag("seeds", "`what` the soak's trouble is drawn from: numbers or the word random, with commas between; /busy after one lets other work take half of the processor")
)

// patience bounds every wait of the suite.
const patience = 40 * time.Second

// The whole suite shares one cluster, one registry and one proxy; at most one
// spec runs at a time. started are the spec's operators.
var (
	env     *harness.Environment
	between *proxy.Proxy
	started []*harness.Operator
)

func TestFaults(t *testing.T) {
	RegisterFailHandler(Fail)
	suite, reporter := GinkgoConfiguration()
	switch {
	case suite.LabelFilter != "":
	case *full:
		suite.LabelFilter = "long"
	default:
		suite.LabelFilter = "short"
	}
	suite.Timeout = 0 // go test has one
	if *soak > 0 {
		t.Logf("the soak lasts %s for each of SEEDS=%s", *soak, seeds)
	}
	RunSpecs(t, "Faults", Label("faults"), suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(*bin)).To(Succeed())
	var err error
	env, err = harness.Start(ctx, harness.Options{Bin: *bin, ServiceCA: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	config, err := env.OperatorConfig()
	Expect(err).NotTo(HaveOccurred())
	between, err = proxy.Start(config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(between.Stop()).To(Succeed()) })
}, NodeTimeout(2*time.Minute))

var _ = AfterEach(func(ctx SpecContext) {
	if CurrentSpecReport().Failed() {
		GinkgoWriter.Print(env.Account(ctx, started...))
	}
}, NodeTimeout(10*time.Second))

// begin empties the cluster and sets up a world, in which no operator runs.
func begin(ctx context.Context, w harness.World) {
	GinkgoHelper()
	endAll()
	endChecker(ctx)
	at = nil
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(env.Begin(ctx, w)).To(Succeed())
	// The good provider brings a Namespace, and a ServiceAccount in it: somebody has to let the operator write there.
	Expect(env.Allow(ctx, "faults-extra", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"create", "delete", "get", "list", "patch", "watch"},
	})).To(Succeed())
}

// endAll ends whatever operators run, and all faults of the proxy.
func endAll() {
	between.Clear()
	between.CountWrites()
	killAll()
}

// killAll ends whatever operators run. The Lease of one that led is free at once.
func killAll() {
	for _, operator := range started {
		operator.Kill()
	}
	started = nil
	if replicas.elect {
		freeLease()
	}
}

// operate starts an operator behind the proxy and waits for nothing.
func operate(o harness.OperatorOptions) *harness.Operator {
	GinkgoHelper()
	o.Through, o.SteeredClock = between.URL(), true
	if checking != nil {
		flags, err := checking.Arguments()
		Expect(err).NotTo(HaveOccurred())
		o.Arguments = slices.Concat(o.Arguments, flags)
	}
	operator, err := env.StartOperator(o)
	Expect(err).NotTo(HaveOccurred())
	started = append(started, operator)
	return operator
}

// until waits for a view that satisfies all questions, and fails when an
// operator ends by itself meanwhile.
func until(ctx context.Context, what string, questions ...func(harness.View) error) harness.View {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := env.Until(ctx, what, all(questions...))
	Expect(err).NotTo(HaveOccurred())
	return v
}

// eventually repeats an attempt until it returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}

// within is the last answer of an attempt that is repeated for a while.
func within(ctx context.Context, limit time.Duration, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return harness.Eventually(ctx, "what may not come", attempt)
}

// all is harness.All that remembers what it was asked about.
func all(questions ...func(harness.View) error) func(harness.View) error {
	question := harness.All(questions...)
	return func(v harness.View) error {
		sight(v)
		return question(v)
	}
}

// says is harness.Says.
func says(kind, status, reason string, texts ...string) func(harness.View) error {
	return harness.Says(kind, status, reason, texts...)
}

// finished is the question whether everything is as it should be, and reported.
var finished = all(
	says("Progressing", "False", "AsExpected"), says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected"),
	func(v harness.View) error {
		if len(v.ClusterOperator.Status.Versions) == 0 {
			return fmt.Errorf("no version is reported")
		}
		return nil
	},
)
