// Package clusterapi_test is the end-to-end suite of the machine clusterapi: the
// operator's binary against a real control plane and a real registry, seen from
// outside only. It looks at what is stored in the cluster and at the audit log,
// and never at the operator's insides.
package clusterapi_test

import (
	"context"
	"fmt"
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

// patience bounds every wait of the suite. All that is waited for takes seconds;
// a busy machine may take longer.
const patience = 60 * time.Second

// env is the cluster and the registry of the whole suite; each spec begins with
// begin, which empties the cluster. started are the spec's operators.
var (
	env     *harness.Environment
	started []*harness.Operator
)

func TestClusterAPI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The machine clusterapi")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	var err error
	env, err = harness.Start(ctx, harness.Options{Bin: bin, ServiceCA: true, NoMutations: true})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(2*time.Minute))

var _ = AfterSuite(func() {
	if env != nil {
		Expect(env.Stop()).To(Succeed())
	}
})

var _ = AfterEach(func(ctx SpecContext) {
	if CurrentSpecReport().Failed() {
		GinkgoWriter.Print(env.Account(ctx, started...))
	}
}, NodeTimeout(10*time.Second))

// begin empties the cluster and sets up a world; the spec's operators are
// stopped when it ends, and each must end with exit code 0.
func begin(ctx context.Context, w harness.World) {
	GinkgoHelper()
	started = nil
	DeferCleanup(func() {
		for _, operator := range started {
			Expect(operator.Stop()).To(Succeed())
		}
	})
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(env.Begin(ctx, w)).To(Succeed())
}

// operate starts an operator and waits for nothing.
func operate(o harness.OperatorOptions) *harness.Operator {
	GinkgoHelper()
	if checker != nil {
		flags, err := checker.Arguments()
		Expect(err).NotTo(HaveOccurred())
		o.Arguments = append(o.Arguments, flags...)
	}
	operator, err := env.StartOperator(o)
	Expect(err).NotTo(HaveOccurred())
	started = append(started, operator)
	return operator
}

// until waits for a view that satisfies all questions.
func until(ctx context.Context, what string, questions ...func(harness.View) error) harness.View {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := env.Until(ctx, what, harness.All(questions...))
	Expect(err).NotTo(HaveOccurred())
	return v
}

// The operator gathers moves for so long before it tells them, and words for less.
const gathers = 3 * time.Second

// soon is until where the newest operator, whose clock can be steered, gathers before it tells: its clock goes ahead by that, a
// few times at most, since nobody sees when it has begun to gather.
func soon(ctx context.Context, what string, questions ...func(harness.View) error) harness.View {
	GinkgoHelper()
	question, last, times := harness.All(questions...), time.Now(), 0
	return until(ctx, what, func(v harness.View) error {
		err := question(v)
		if err != nil && times < 3 && time.Since(last) > 500*time.Millisecond {
			Expect(started[len(started)-1].Advance(gathers)).To(Succeed())
			last, times = time.Now(), times+1
		}
		return err
	})
}

// hastened is eventually where the newest operator, whose clock can be steered, looks again after so long only: its clock goes
// ahead by that until it has.
func hastened(ctx context.Context, what string, again time.Duration, attempt func(context.Context) error) {
	GinkgoHelper()
	last := time.Now()
	eventually(ctx, what, func(ctx context.Context) error {
		err := attempt(ctx)
		if err != nil && time.Since(last) > 500*time.Millisecond {
			Expect(started[len(started)-1].Advance(again)).To(Succeed())
			last = time.Now()
		}
		return err
	})
}

// eventually repeats an attempt until it returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}

// installed waits until a revision of at least this number is installed and
// nothing older is listed.
func installed(ctx context.Context, number int64) harness.View {
	GinkgoHelper()
	return until(ctx, fmt.Sprintf("revision %d to be installed", number), harness.Settled(number))
}

// says is harness.Says.
func says(kind, status, reason string, texts ...string) func(harness.View) error {
	return harness.Says(kind, status, reason, texts...)
}
