package migration_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// moving is a management cluster whose hosted clusters an operator moves, all of whose requests go by a proxy, and whose clock is set
// forward where a move waits for nothing but time.
type moving struct {
	*hostedworld.World
	between *proxy.Proxy
	metrics *harness.Metrics
	// lives ends with the world.
	lives context.Context

	mu       sync.Mutex
	watched  *history
	operator *harness.Operator
	started  int
	// unwell are hosted clusters whose first machine is found broken where they move to, and stuck is a state that cannot be left as
	// it should be; empty for none.
	unwell map[string]*hostedworld.Hosted
	stuck  string
}

// newMoving has a world without hosted clusters, and ends it with the spec.
func newMoving(ctx context.Context) *moving {
	GinkgoHelper()
	lives, end := context.WithCancel(context.Background())
	m := &moving{lives: lives, unwell: map[string]*hostedworld.Hosted{}}
	var err error
	m.World, err = hostedworld.Begin(ctx, env, bin)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		end()
		m.Wait()
	})
	config, err := env.OperatorConfig()
	Expect(err).NotTo(HaveOccurred())
	m.between, err = proxy.Start(config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(m.between.Stop()).To(Succeed()) })
	m.metrics, err = env.NewMetrics()
	Expect(err).NotTo(HaveOccurred())
	return m
}

// add makes a hosted cluster with machines, and waits until they are ready.
func (m *moving) add(ctx context.Context, name string, machines int, annotations map[string]string) *hostedworld.Hosted {
	GinkgoHelper()
	h, err := m.AddHosted(m.lives, name, machines, annotations)
	Expect(err).NotTo(HaveOccurred())
	m.haveReady(ctx, h, hostedworld.Standard, machines)
	return h
}

// haveReady waits until a hosted cluster has so many Machines on one side that are ready, and no others.
func (m *moving) haveReady(ctx context.Context, h *hostedworld.Hosted, side string, machines int) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%d machines of HostedCluster %s", machines, h.Key()), func(ctx context.Context) error {
		all, err := h.Stored(ctx, side)
		if err != nil {
			return err
		}
		there, well := 0, 0
		for _, o := range all {
			if o.GetKind() == "Machine" {
				there++
				if hostedworld.IsReady(o) {
					well++
				}
			}
		}
		if there != machines || well != machines {
			return fmt.Errorf("%d of %d are ready; the programs met: %w", well, there, h.Problem())
		}
		return nil
	})
}

// enable lets moves begin.
func (m *moving) enable(ctx context.Context) {
	GinkgoHelper()
	Expect(m.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-private-capi"}})).To(Succeed())
}

// begin starts the history and an operator that stays until the spec ends, and hurries it.
func (m *moving) begin(ctx context.Context) {
	GinkgoHelper()
	m.follow(ctx)
	m.operate()
	var hurrying sync.WaitGroup
	lives, end := context.WithCancel(m.lives)
	hurrying.Go(func() { m.hurry(lives) })
	DeferCleanup(func(_ SpecContext) {
		end()
		hurrying.Wait()
		if CurrentSpecReport().Failed() {
			log, err := os.ReadFile(m.operator.Log)
			fmt.Fprintf(GinkgoWriter, "\n%s\nThe end of %s (%v):\n%s", m.history().tell(), m.operator.Log, err, log[max(0, len(log)-16<<10):])
		}
		m.between.Clear()
		m.between.CountWrites()
		Expect(m.operator.Stop()).To(Succeed())
	}, NodeTimeout(time.Minute))
}

// operate starts an operator in place of the one that has ended, if there was one.
func (m *moving) operate() {
	GinkgoHelper()
	operator, err := env.StartOperator(harness.OperatorOptions{
		SteeredClock: true, Through: m.between.URL(),
		Arguments: append(m.metrics.Arguments(), hostedworld.ProxyImage(), hostedworld.OldOperator()),
	})
	Expect(err).NotTo(HaveOccurred())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.operator = operator
	m.started++
}

func (m *moving) running() (operator *harness.Operator, started int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.operator, m.started
}

// follow begins the history, or another one.
func (m *moving) follow(ctx context.Context) {
	GinkgoHelper()
	watched := follow(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = watched
}

func (m *moving) history() *history {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.watched
}

// until waits until a hosted cluster has told one of some states last.
func (m *moving) until(ctx context.Context, name string, states ...string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%s to be %v", name, states), func(context.Context) error { return m.isIn(name, states...) })
}

func (m *moving) isIn(name string, states ...string) error {
	is, message := m.history().last(name)
	for _, state := range states {
		if is == state {
			return nil
		}
	}
	return fmt.Errorf("it is %q: %s", is, message)
}

// mark patches the annotations of a HostedCluster, null for none.
func (m *moving) mark(ctx context.Context, name, annotations string) {
	GinkgoHelper()
	o := &hostedworld.Object{}
	o.SetAPIVersion(of(hypershift, "").GroupVersion().String())
	o.SetKind("HostedCluster")
	o.SetNamespace(hostedNamespace)
	o.SetName(name)
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":%s}}`, annotations))
	Expect(m.Client.Patch(ctx, o, patch, harness.Administrator)).To(Succeed())
}

// told is the state that a HostedCluster tells now.
func (m *moving) told(ctx context.Context, h *hostedworld.Hosted) string {
	o, err := h.Get(ctx)
	if err != nil {
		return ""
	}
	state, _ := hostedworld.Told(o)
	return state
}

// writesIn are what the operator wrote since a mark into namespaces of control planes.
func (m *moving) writesIn(ctx context.Context, since cluster.Mark, hosted ...*hostedworld.Hosted) cluster.RequestList {
	GinkgoHelper()
	log, err := env.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	return log.By(harness.UserAgent).Writes().Where(func(r cluster.Request) bool {
		for _, h := range hosted {
			if r.Namespace == h.Namespace() {
				return true
			}
		}
		return false
	})
}

func now(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	mark, err := env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return mark
}
