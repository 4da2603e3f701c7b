package compatibility_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// stage is an operator and a checker at work.
type stage struct {
	// Service is between API server and checker, which has these replicas.
	*harness.Service
	replicas []*harness.Webhooks
	operator *harness.Operator
}

// operating is the operator that was started last.
var operating *harness.Operator

// everyday is the stage that specs share as long as none of them needs one of its own; nil before the first of them, and after
// one that did.
var everyday *stage

// shared is the everyday stage, armed. A spec on it has a kind to itself, and disturbs nobody.
func shared(ctx context.Context) *stage {
	GinkgoHelper()
	if everyday == nil {
		empty(ctx)
		s, err := set(ctx, 1)
		everyday = s
		Expect(err).NotTo(HaveOccurred())
		s.operate()
	}
	s := everyday
	DeferCleanup(func() {
		if CurrentSpecReport().Failed() {
			s.account()
		}
	})
	s.armed(ctx)
	return s
}

// alone is a stage of the spec's own, in an empty cluster, with so many replicas that have been started. There is no operator
// before operate.
func alone(ctx context.Context, replicas int) *stage {
	GinkgoHelper()
	empty(ctx)
	s, err := set(ctx, replicas)
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			s.account()
		}
		Expect(s.clear(ctx)).To(Succeed())
	})
	Expect(err).NotTo(HaveOccurred())
	return s
}

// empty ends the everyday stage, and brings the cluster back to how it began.
func empty(ctx context.Context) {
	GinkgoHelper()
	Expect(leave(ctx)).To(Succeed())
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(env.Begin(bounded, harness.World{})).To(Succeed())
}

// leave ends the everyday stage, if there is one.
func leave(ctx context.Context) error {
	s := everyday
	everyday = nil
	if s == nil {
		return nil
	}
	return s.clear(ctx)
}

// set opens a stage and starts replicas. What it returns with an error is cleared too.
func set(ctx context.Context, replicas int) (*stage, error) {
	service, err := env.NewService(ctx)
	if err != nil {
		return nil, err
	}
	s := &stage{Service: service}
	for range replicas {
		if _, err := s.another(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// another starts one more replica.
func (s *stage) another(arguments ...string) (*harness.Webhooks, error) {
	w, err := env.NewWebhooks()
	if err != nil {
		return nil, err
	}
	s.replicas = append(s.replicas, w)
	s.Add(w)
	return w, w.Start(arguments...)
}

// operate starts the operator, with a clock that can be steered.
func (s *stage) operate(arguments ...string) *harness.Operator {
	GinkgoHelper()
	flags, err := s.Arguments()
	Expect(err).NotTo(HaveOccurred())
	s.operator, err = env.StartOperator(harness.OperatorOptions{SteeredClock: true, Arguments: append(flags, arguments...)})
	Expect(err).NotTo(HaveOccurred())
	operating = s.operator
	return s.operator
}

// armed waits until a bad requirement would be refused.
func (s *stage) armed(ctx context.Context) {
	GinkgoHelper()
	eventually(ctx, "the checker to be armed", func(ctx context.Context) error {
		shared := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		if err := env.Client.Get(ctx, client.ObjectKey{Name: "capstan-requirements"}, shared); err != nil {
			return err
		}
		return unless(policies(shared) == "Fail", "its configuration says "+policies(shared))
	})
}

// sooner is eventually, with the operator's clock going ahead meanwhile: what it does every few seconds need not be waited for.
func (s *stage) sooner(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	eventually(ctx, what, func(ctx context.Context) error {
		err := attempt(ctx)
		if err != nil {
			Expect(s.operator.Advance(time.Second)).To(Succeed())
		}
		return err
	})
}

// policies are those of the webhooks of a configuration, in their order.
func policies(of *admissionregistrationv1.ValidatingWebhookConfiguration) string {
	var all []string
	for _, h := range of.Webhooks {
		all = append(all, string(ptr.Deref(h.FailurePolicy, "")))
	}
	return strings.Join(all, ", ")
}

// clear ends all processes, each of which must end with exit code 0 unless it was killed.
func (s *stage) clear(ctx context.Context) error {
	var problems []error
	if s == nil {
		return nil
	}
	if s.operator != nil {
		problems = append(problems, s.operator.Stop())
	}
	for _, w := range s.replicas {
		problems = append(problems, w.Stop())
	}
	// Nobody answers any more, and the next spec begins with writes.
	for _, kind := range []client.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}} {
		problems = append(problems, client.IgnoreNotFound(env.Client.DeleteAllOf(ctx, kind, ours)))
	}
	return errors.Join(append(problems, s.Close(ctx))...)
}

// account is what the processes have written.
func (s *stage) account() {
	if s == nil {
		return
	}
	files := []string{}
	if s.operator != nil {
		files = append(files, s.operator.Log)
	}
	for _, w := range s.replicas {
		files = append(files, w.Log)
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		fmt.Fprintf(GinkgoWriter, "\nThe end of %s (%v):\n%s", file, err, log[max(0, len(log)-16<<10):])
	}
}

// ours is the label of the checker's configurations.
var ours = client.MatchingLabels{"capstan.openshift.io/checker": "true"}

// author writes as an administrator does, and keeps what API servers warn of.
type author struct {
	client.Client

	mu       sync.Mutex
	warnings []string
}

// newAuthor is one that was not warned of anything yet.
func newAuthor() *author {
	GinkgoHelper()
	a := &author{}
	config := env.Cluster.Config()
	config.WarningHandler = a
	var err error
	a.Client, err = harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
	return a
}

// HandleWarningHeader is a warning of an API server.
func (a *author) HandleWarningHeader(_ int, _, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.warnings = append(a.warnings, text)
}

// warned are the warnings since it was asked last.
func (a *author) warned() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	told := a.warnings
	a.warnings = nil
	return told
}
