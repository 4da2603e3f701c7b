package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A wave", func() {
	It("case 42: is not written at all when one object of three is invalid, which the report names", func(ctx SpecContext) {
		w := begin(ctx)
		bad := with(w.configMap("bad"), "no such field", "nonsense")
		objects := []*unstructured.Unstructured{w.configMap("a", "key", "value"), bad, w.configMap("b", "key", "value")}
		since := mark(ctx)
		report, err := w.start().apply(ctx, of(1, objects...))
		Expect(err).To(MatchError(And(ContainSubstring("ConfigMap "+w.namespace+"/bad"), ContainSubstring("nonsense"))))
		Expect(terminal(err)).To(BeTrue())
		Expect(in(report, bad).Action).To(Equal(engine.Failed))
		Expect(report.Blocked()).To(ContainSubstring("bad"))
		Expect(withoutInventories(w.writes(ctx, since))).To(BeEmpty())
		for _, o := range objects {
			Expect(w.isGone(ctx, o)).To(Succeed())
		}
	})

	It("case 42: tries what changes before it writes anything, and no object of which only the number does", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		same := []*unstructured.Unstructured{w.configMap("a", "key", "value"), w.configMap("b", "key", "value")}
		e.converge(ctx, of(1, append(same, w.configMap("c", "key", "old"))...))
		since := mark(ctx)
		bad := with(w.configMap("c"), "no such field", "nonsense")
		_, err := e.Reconcile(ctx, of(2, append(same, bad)...))
		Expect(terminal(err)).To(BeTrue())
		Expect(withoutInventories(w.writes(ctx, since))).To(BeEmpty())
		tried := w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.DryRun })
		Expect(tried).To(HaveLen(1), tried.String())
		since = mark(ctx)
		e.converge(ctx, of(3, append(same, w.configMap("c", "key", "new"))...))
		Expect(withoutInventories(w.writes(ctx, since))).To(HaveLen(3))
		tried = w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.DryRun })
		Expect(tried).To(HaveLen(1), tried.String())
	})

	It("case 43: is refused without a request when metadata says what a manifest must not say", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		since := mark(ctx)
		number := int64(0)
		for path, value := range map[string]any{
			"metadata.uid": "x", "metadata.generation": int64(1), "metadata.generateName": "x", "metadata.resourceVersion": "1",
			"metadata.deletionTimestamp": "2026-01-01T00:00:00Z", "metadata.selfLink": "/x", "metadata.finalizers": []any{"x/y"},
			"metadata.managedFields":   []any{map[string]any{"manager": "x"}},
			"metadata.ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}},
			"metadata.name":            "", "apiVersion": "", "kind": "",
		} {
			number++
			report, err := e.Reconcile(ctx, of(number, with(w.configMap("a"), value, strings.Split(path, ".")...)))
			Expect(terminal(err)).To(BeTrue(), path)
			Expect(err).To(MatchError(ContainSubstring(path)), path)
			Expect(report.Complete()).To(BeFalse(), path)
		}
		for _, ours := range []string{engine.RevisionAnnotation, engine.OwnerAnnotation} {
			number++
			_, err := e.Reconcile(ctx, of(number, annotated(w.configMap("a"), ours, "1")))
			Expect(terminal(err)).To(BeTrue(), ours)
			Expect(err).To(MatchError(ContainSubstring(ours)), ours)
		}
		Expect(w.writes(ctx, since)).To(BeEmpty())
		Expect(w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.DryRun })).To(BeEmpty())
	})

	It("case 44: is refused when an object is in it twice, be it in two versions", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		since := mark(ctx)
		_, err := e.Reconcile(ctx, of(1, w.configMap("a"), w.configMap("a")))
		Expect(terminal(err)).To(BeTrue())
		Expect(err).To(MatchError(And(ContainSubstring("ConfigMap "+w.namespace+"/a"), ContainSubstring("twice"))))
		old := with(w.deployment("manager"), "apps/v1beta1", "apiVersion")
		_, err = e.Reconcile(ctx, of(2, w.deployment("manager"), old))
		Expect(terminal(err)).To(BeTrue())
		Expect(err).To(MatchError(ContainSubstring("twice")))
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})

	It("case 45: waits for a namespace that is missing, and goes on by itself when it comes", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := with(w.configMap("a"), w.name("later"), "metadata", "namespace")
		e := w.start()
		e.until(ctx, of(1, wanted), func(report *engine.Report) error {
			if o := in(report, wanted); o.Err == nil {
				return errors.New("the missing namespace is not reported")
			}
			Expect(report.Blocked()).To(ContainSubstring(w.name("later")))
			Expect(terminal(report.Err())).To(BeFalse())
			return nil
		})
		w.create(ctx, w.newNamespace("later"))
		e.converge(ctx, of(1, wanted))
		Expect(w.uid(ctx, wanted)).NotTo(BeEmpty())
	})

	It("case 46: holds a definition and its instances, or a namespace and its content, of one component", func(ctx SpecContext) {
		w := begin(ctx)
		inside := with(w.configMap("a"), w.name("inner"), "metadata", "namespace")
		e := w.start()
		report := e.converge(ctx, of(1, w.instance("gadget", "one"), w.crd("gadget"), inside, w.newNamespace("inner")))
		Expect(in(report, w.newNamespace("inner")).Wave).To(BeNumerically("<", in(report, inside).Wave))
		Expect(in(report, w.crd("gadget")).Wave).To(BeNumerically("<", in(report, w.instance("gadget", "one")).Wave))
	})

	It("case 47: waits for a kind that nobody serves, and goes on when somebody else installs its definition", func(ctx SpecContext) {
		w := begin(ctx)
		clock := clocktesting.NewFakeClock(time.Now())
		e := w.start(func(c *engine.Config) { c.Clock = clock })
		wanted := w.instance("gadget", "one")
		rev := of(1, wanted)
		e.until(ctx, rev, func(report *engine.Report) error {
			var missing *engine.NoKindError
			if o := in(report, wanted); !errors.As(o.Err, &missing) {
				return fmt.Errorf("the missing kind is not reported\n%s", report)
			}
			Expect(terminal(report.Err())).To(BeFalse())
			return nil
		})
		w.create(ctx, w.crd("gadget"))
		defer passing(clock)()
		e.converge(ctx, rev)
	})

	It("case 48: is written but for the two objects that fail, which are both reported", func(ctx SpecContext) {
		w := begin(ctx)
		one := with(w.configMap("one"), w.name("missing"), "metadata", "namespace")
		two := with(w.configMap("two"), w.name("missing"), "metadata", "namespace")
		fine, good := w.configMap("fine"), w.serviceAccount("good")
		report, err := w.start().apply(ctx, of(1, one, fine, two, good))
		Expect(err).To(MatchError(And(ContainSubstring("missing/one"), ContainSubstring("missing/two"))))
		for _, failed := range []*unstructured.Unstructured{one, two} {
			Expect(in(report, failed).Action).To(Equal(engine.Failed))
			Expect(in(report, failed).Err).To(HaveOccurred())
		}
		for _, applied := range []*unstructured.Unstructured{fine, good} {
			Expect(in(report, applied).Action).To(Equal(engine.Created))
			Expect(w.uid(ctx, applied)).NotTo(BeEmpty())
		}
		Expect(report.Waves[0].Objects).To(HaveLen(4))
	})

	It("case 49: is written but for the object that collides, and is not complete", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, w.configMap("taken"))
		report, err := w.start().apply(ctx, of(1, w.configMap("a"), w.configMap("taken"), w.configMap("b"), w.deployment("manager")))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Collisions()).To(HaveLen(1))
		Expect(report.Complete()).To(BeFalse())
		Expect(w.uid(ctx, w.configMap("a"))).NotTo(BeEmpty())
		Expect(w.uid(ctx, w.configMap("b"))).NotTo(BeEmpty())
		Expect(in(report, w.deployment("manager")).Action).To(Equal(engine.Pending))
		Expect(w.isGone(ctx, w.deployment("manager"))).To(Succeed())
	})

	It("case 50: goes on when the obstacle, which has no label, is deleted", func(ctx SpecContext) {
		w := begin(ctx)
		obstacle := w.create(ctx, w.configMap("taken"))
		e := w.start()
		e.until(ctx, of(1, w.configMap("taken", "key", "value")), acted(obstacle, engine.Collision))
		w.delete(ctx, obstacle)
		e.converge(ctx, of(1, w.configMap("taken", "key", "value")))
		Expect(w.uid(ctx, obstacle)).NotTo(Equal(obstacle.GetUID()))
	})

	It("case 51: of 100 objects takes less than a quarter of the time of its requests, and is reported in the order of the manifest", func(ctx SpecContext) {
		const latency = 100 * time.Millisecond
		w := begin(ctx)
		var objects []*unstructured.Unstructured
		for i := range 100 {
			objects = append(objects, w.configMap(fmt.Sprintf("c%02d", (i*37)%100), "key", "value"))
		}
		e := w.start(func(c *engine.Config) {
			c.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return sender(func(r *http.Request) (*http.Response, error) {
					select { // as if the API server were far away
					case <-r.Context().Done():
					case <-time.After(latency):
					}
					return next.RoundTrip(r)
				})
			})
		})
		rev := of(1, objects...)
		e.see(ctx, rev)
		since, began := mark(ctx), time.Now()
		report, err := e.Reconcile(ctx, rev)
		took := time.Since(began)
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Applied()).To(BeTrue(), report.String())
		sequential := time.Duration(len(w.requests(ctx, since))) * latency
		Expect(took).To(BeNumerically("<", sequential/4))
		for i, o := range report.Waves[0].Objects {
			Expect(o.Key).To(Equal(engine.KeyOf(objects[i])))
		}
	})

	It("case 52: is complete when it is empty, and so is a component or a revision", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		report := e.converge(ctx, revision(1, component("none"), component("core", w.configMap("a")), component("nothing")))
		Expect(report.Waves).To(HaveLen(1))
		e.converge(ctx, revision(2))
	})

	It("case 53: of 300 objects that are right costs no request in any pass", func(ctx SpecContext) {
		w := begin(ctx)
		var objects []*unstructured.Unstructured
		for i := range 100 {
			name := fmt.Sprintf("c%02d", i)
			objects = append(objects, w.configMap(name, "key", "value"), w.serviceAccount(name), w.clusterRole(name))
		}
		e := w.start()
		e.converge(ctx, of(1, objects...))
		since := mark(ctx)
		for range 10 {
			report, err := e.Reconcile(ctx, of(1, objects...))
			Expect(err).NotTo(HaveOccurred())
			Expect(report.Done()).To(Equal(300))
		}
		Expect(w.requests(ctx, since)).To(BeEmpty())
	})
})

// passing lets time pass fast, until it is called off.
func passing(clock *clocktesting.FakeClock) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				clock.Step(time.Second)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// sender is a function that sends a request.
type sender func(*http.Request) (*http.Response, error)

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// terminal says whether only another input can heal an error. Of several failures one that may heal is enough to go on
// trying, as machine.IsTerminal has it.
func terminal(err error) bool {
	var t interface{ Terminal() bool }
	return errors.As(err, &t) && t.Terminal()
}

// withoutInventories drops the requests for the inventories, which are written before anything is tried.
func withoutInventories(all cluster.RequestList) cluster.RequestList {
	return all.Where(func(r cluster.Request) bool { return !strings.HasPrefix(r.Name, inventoryPrefix) })
}
