package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// pace is how often something happens during the soak.
const pace = 300 * time.Millisecond

var _ = Describe("The soak:", Label("long", "soak"), func() {
	if *soak == 0 {
		return
	}
	for _, from := range seeds.list {
		It("after random faults, edits, upgrades and restarts the operator comes to rest, and holds no more than before, seed "+from.String(), func(ctx SpecContext) {
			if from.busy {
				defer occupy(*soak)()
			}
			soakFrom(ctx, from.number)
		}, NodeTimeout(*soak+10*time.Minute))
	}
})

// soakFrom makes the trouble that a seed stands for.
func soakFrom(ctx context.Context, number uint64) {
	GinkgoHelper()
	metrics, err := env.NewMetrics()
	Expect(err).NotTo(HaveOccurred())
	atGood(ctx)
	foreign := configMap("foreign")
	Expect(env.Client.Create(ctx, foreign.DeepCopy(), administrator)).To(Succeed())
	s := &soaking{
		random:  rand.New(rand.NewPCG(number, 0)), //nolint:gosec // Repeatable, not secret.
		metrics: metrics.Arguments(), releases: []string{one, two, goodProvider(ctx, "three", goes, extra("three", "three"))},
		kept: uidOf(ctx, configMap("kept")), version: versionOf(ctx, foreign),
	}
	s.restart()
	s.quiet(ctx)
	watching(ctx)
	before := measure(ctx, metrics)

	done := map[string]int{}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for end := time.Now().Add(*soak); time.Now().Before(end); <-ticker.C {
		done[s.disturb(ctx)]++
	}
	GinkgoWriter.Printf("what was done: %v\n", done)

	s.quiet(ctx)
	Expect(uidOf(ctx, configMap("kept"))).To(Equal(s.kept), "ConfigMap kept was made anew")
	Expect(versionOf(ctx, foreign)).To(Equal(s.version), "an object of somebody else was written")
	eventually(ctx, "the operator to hold no more than before", func(ctx context.Context) error {
		return measure(ctx, metrics).exceeds(before)
	})
	GinkgoWriter.Printf("held before: %+v, after: %+v\n", before, measure(ctx, metrics))
}

// soaking is what the soak works with.
type soaking struct {
	random   *rand.Rand
	metrics  []string
	releases []string
	kept     types.UID
	version  string
}

func (s *soaking) restart() {
	killAll()
	startGood(s.metrics...)
}

// disturb does one thing, whatever it is, and tells what.
func (s *soaking) disturb(ctx context.Context) string {
	GinkgoHelper()
	r := s.random
	switch n := r.IntN(100); {
	case n < 55:
		faults := []proxy.Fault{
			proxy.Answer(http.StatusConflict, 0), proxy.Answer(http.StatusTooManyRequests, 1), proxy.Answer(http.StatusInternalServerError, 0),
			proxy.Answer(http.StatusServiceUnavailable, 0), proxy.Answer(http.StatusGone, 0), proxy.ResetBefore, proxy.ResetAfter,
			proxy.Slow(500 * time.Millisecond),
			proxy.Truncate, proxy.Late(200 * time.Millisecond),
		}
		i, verb := r.IntN(len(faults)), []string{"write", "patch", "watch", "list", "get", ""}[r.IntN(6)]
		between.Add(proxy.Rule{Verb: verb, Count: 1 + r.IntN(5), Probability: 0.3, Fault: faults[i]})
		return "a fault of the API server"
	case n < 61:
		next()
		err := env.Client.Patch(ctx, configMap(target), client.RawPatch(types.MergePatchType, []byte(`{"data":{"setting":"wrong"}}`)), administrator)
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return "an edit"
	case n < 65:
		next()
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, configMap(target)))).To(Succeed())
		return "a deletion"
	case n < 75:
		Expect(env.SetImages(ctx, images(s.releases[r.IntN(len(s.releases))]))).To(Succeed())
		return "another release"
	case n < 82:
		between.CutWatches("")
		return "watches cut"
	case n < 88:
		env.Registry.SetFault(refuses(http.StatusBadGateway))
		return "the registry fails"
	case n < 92:
		env.Registry.SetFault(nil)
		return "the registry works"
	case n < 95:
		s.restart()
		return "a restart"
	case n < 98:
		advance(time.Duration(r.IntN(60)) * time.Second)
		return "time goes by"
	}
	between.Clear()
	return "all faults of the API server end"
}

// quiet ends all trouble, and waits at most a minute for everything to be as it should be.
func (s *soaking) quiet(ctx context.Context) {
	GinkgoHelper()
	between.Clear()
	env.Registry.SetFault(nil)
	Expect(env.SetImages(ctx, images(one))).To(Succeed())
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := env.Until(ctx, "the operator to come to rest", all(harness.Settled(1), finished, func(harness.View) error {
		for i := range targets {
			target = fmt.Sprintf("edited-%d", i)
			if err := isRight(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	Expect(err).NotTo(HaveOccurred())
	GinkgoWriter.Printf("came to rest after %s\n", time.Since(began).Round(time.Millisecond))
}

// holding is what an operator holds.
type holding struct{ goroutines, files, watches, megabytes int }

// exceeds is nil when no more is held than before, but for what comes and goes.
func (h holding) exceeds(before holding) error {
	if h.goroutines > before.goroutines+15 || h.files > before.files+8 || h.watches > before.watches+2 || h.megabytes > before.megabytes*3/2+16 {
		return fmt.Errorf("it holds %+v, and held %+v", h, before)
	}
	return nil
}

// measure asks the operator's own metrics, and the proxy.
func measure(ctx context.Context, from *harness.Metrics) holding {
	GinkgoHelper()
	h := holding{watches: between.Watches()}
	eventually(ctx, "the operator's metrics", func(ctx context.Context) error {
		metrics, err := from.Text(ctx)
		if err != nil {
			return err
		}
		for line := range strings.Lines(metrics) {
			name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			value, _ := strconv.ParseFloat(text, 64)
			switch name {
			case "go_goroutines":
				h.goroutines = int(value)
			case "process_open_fds":
				h.files = int(value)
			case "process_resident_memory_bytes":
				h.megabytes = int(value) >> 20
			}
		}
		if h.goroutines == 0 || h.files == 0 || h.megabytes == 0 {
			return fmt.Errorf("not all metrics are there: %+v", h)
		}
		return nil
	})
	return h
}

func versionOf(ctx context.Context, o client.Object) string {
	GinkgoHelper()
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
	return o.GetResourceVersion()
}
