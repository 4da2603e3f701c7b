package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A watch", func() {
	It("case 76: sees a deletion, and the object is created again within five seconds", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		uid, deleted := w.uid(ctx, wanted), time.Now()
		w.delete(ctx, wanted)
		e.until(ctx, of(1, wanted), created(wanted))
		Expect(time.Since(deleted)).To(BeNumerically("<", 5*time.Second))
		Expect(w.uid(ctx, wanted)).NotTo(Equal(uid))
	})

	It("case 77: of a kind begins when its definition arrives, and tells of it", func(ctx SpecContext) {
		w := begin(ctx)
		instance := w.instance("gadget", "one")
		seen := newTraffic()
		e := w.start(seen.of)
		e.until(ctx, of(1, instance), acted(instance, engine.Failed))
		Expect(seen.open("gadgets")).To(BeZero())
		changed, installed := e.change(), time.Now()
		w.create(ctx, w.crd("gadget"))
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		e.converge(ctx, of(1, instance))
		Expect(seen.open("gadgets")).To(Equal(1))
		Expect(time.Since(installed)).To(BeNumerically("<", 10*time.Second), "nobody waits for the next time to ask")
		Eventually(func() int { return seen.metadata("customresourcedefinitions") }).WithTimeout(patience).Should(BeZero(), "nothing is missing any more")
	})

	It("case 78: ends when no revision needs the kind, and goes on while something of it is to be removed", func(ctx SpecContext) {
		w := begin(ctx)
		account, settings := w.serviceAccount("a"), w.configMap("a", "key", "value")
		seen := newTraffic()
		e := w.start(seen.of)
		e.install(ctx, of(1, account, settings))
		Expect(seen.open("serviceaccounts")).To(Equal(1))

		w.merge(ctx, "other", account, `{"metadata":{"finalizers":["test.capstan.io/hold"]}}`)
		next := of(2, with(settings, "other", "data", "key"))
		e.converge(ctx, next)
		e.Watch(next)
		_, err := e.Teardown(ctx, next)
		Expect(err).NotTo(HaveOccurred())
		Consistently(func() int { return seen.open("serviceaccounts") }).WithTimeout(time.Second).Should(Equal(1))
		w.merge(ctx, "other", account, `{"metadata":{"finalizers":null}}`)
		e.install(ctx, next)
		Eventually(func() int { return seen.open("serviceaccounts") }).WithTimeout(patience).Should(BeZero())
	})

	It("case 79: that broke or expired lists again, and misses no deletion", func(ctx SpecContext) {
		w := begin(ctx)
		kept, lost := w.configMap("kept", "key", "value"), w.configMap("lost", "key", "value")
		seen := newTraffic()
		e := w.start(seen.of)
		e.converge(ctx, of(1, kept, lost))
		uid, lists := w.uid(ctx, lost), seen.begun("configmaps")
		seen.cut("configmaps", func() { w.delete(ctx, lost) })
		e.until(ctx, of(1, kept, lost), created(lost))
		e.converge(ctx, of(1, kept, lost))
		Expect(w.uid(ctx, lost)).NotTo(Equal(uid))
		Expect(seen.begun("configmaps")).To(BeNumerically(">", lists), "the watch began anew with a list")
	})

	It("case 80: tells when a Deployment that was available is not any more", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.deployment("manager")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		changed := e.change()
		release := w.crash(ctx, "manager", "v1")
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		e.until(ctx, of(1, wanted), probing(wanted, engine.AnswerFalse))
		release()
		e.converge(ctx, of(1, wanted))
	})

	It("case 81: fails for one kind of many, and all others are seen", func(ctx SpecContext) {
		w := begin(ctx)
		objects := []*unstructured.Unstructured{
			w.configMap("a"), w.serviceAccount("a"), w.service("a"), w.clusterRole("a"), w.deployment("a"),
			w.object(`{apiVersion: nobody.example/v1, kind: Mystery, metadata: {namespace: $NS, name: a}}`),
		}
		seen := newTraffic()
		e := w.start(seen.of)
		report := e.until(ctx, of(1, objects...), acted(objects[5], engine.Failed))
		Expect(report.Blocked()).NotTo(BeEmpty())
		for _, resource := range []string{"configmaps", "serviceaccounts", "services", "clusterroles", "deployments"} {
			Eventually(func() int { return seen.open(resource) }).WithTimeout(patience).Should(BeNumerically(">=", 1), resource)
		}
		e.until(ctx, of(1, objects...), func(report *engine.Report) error {
			for _, o := range objects[:4] {
				if !in(report, o).Applied() {
					return fmt.Errorf("%s\n%s", engine.KeyOf(o), report)
				}
			}
			return nil
		})
	})

	It("of one object begins when it is in the way without a label, heals the collision without another request, and ends", func(ctx SpecContext) {
		w := begin(ctx)
		obstacle := w.create(ctx, w.serviceAccount("taken"))
		wanted := of(1, w.serviceAccount("taken"))
		seen := newTraffic()
		e := w.start(seen.of)
		e.until(ctx, wanted, acted(obstacle, engine.Collision))
		Eventually(func() int { return seen.open("serviceaccounts") }).WithTimeout(patience).Should(Equal(2))
		since := mark(ctx)
		for range 3 {
			report, err := e.Reconcile(ctx, wanted)
			Expect(err).NotTo(HaveOccurred())
			Expect(report.Collisions()).To(HaveLen(1))
		}
		Expect(w.requests(ctx, since)).To(BeEmpty(), "the watch is enough")
		changed := e.change()
		w.delete(ctx, obstacle)
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		e.converge(ctx, wanted)
		Eventually(func() int { return seen.open("serviceaccounts") }).WithTimeout(patience).Should(Equal(1))
	})

	It("of one object is not begun for the twenty-first that is in the way, which is read twice a minute", func(ctx SpecContext) {
		w := begin(ctx)
		var wanted []*unstructured.Unstructured
		for i := range 25 {
			wanted = append(wanted, w.serviceAccount(fmt.Sprintf("taken-%d", i)))
			w.create(ctx, wanted[i])
		}
		seen, clk := newTraffic(), clocktesting.NewFakeClock(time.Now())
		e, rev := w.start(seen.of, func(c *engine.Config) { c.Clock = clk }), of(1, wanted...)
		collide := func(report *engine.Report) error {
			if n := len(report.Collisions()); n != len(wanted) {
				return fmt.Errorf("%d of %d objects collide", n, len(wanted))
			}
			return nil
		}
		reads := func(since cluster.Mark) cluster.RequestList {
			return w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.Verb != "watch" })
		}
		e.until(ctx, rev, collide)
		Eventually(func() int { return seen.open("serviceaccounts") }).WithTimeout(patience).Should(Equal(21))
		since := mark(ctx)
		for range 3 {
			e.until(ctx, rev, collide)
		}
		Expect(reads(since)).To(BeEmpty())
		changed := e.change()
		clk.Step(30 * time.Second)
		Eventually(changed).WithTimeout(patience).Should(BeClosed(), "nobody else asks for a pass")
		for range 3 {
			e.until(ctx, rev, collide)
		}
		Expect(reads(since)).To(HaveLen(5))

		for _, obstacle := range wanted {
			w.delete(ctx, obstacle)
		}
		clk.Step(30 * time.Second)
		e.converge(ctx, rev)
		Eventually(func() int { return seen.open("serviceaccounts") }).WithTimeout(patience).Should(Equal(1))
	})

	It("of a retained definition's instances tells when the last one is gone", func(ctx SpecContext) {
		w := begin(ctx)
		definition, instance := w.crd("gadget"), w.instance("gadget", "one")
		settings := w.configMap("a", "key", "value")
		seen := newTraffic()
		e := w.start(seen.of)
		e.install(ctx, of(1, definition, settings))
		w.create(ctx, instance)
		next := of(2, settings)
		pruned := e.install(ctx, next)
		Expect(pruned.Retained).To(HaveLen(1))
		Eventually(func() int { return seen.metadata("gadgets") }).WithTimeout(patience).Should(Equal(1))
		changed := e.change()
		w.delete(ctx, instance)
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		e.install(ctx, next)
		Expect(w.isGone(ctx, definition)).To(Succeed())
		Eventually(func() int { return seen.metadata("gadgets") }).WithTimeout(patience).Should(BeZero())
	})
})

// created is the question whether a pass created an object.
func created(o *unstructured.Unstructured) func(*engine.Report) error {
	return acted(o, engine.Created)
}

// traffic is what an engine has open with its API server, by resource.
type traffic struct {
	mu      sync.Mutex
	streams map[*stream]bool
	cuts    map[string]*cut
	lists   map[string]int // that watches began with
}

// cut is what happened to the watches of a resource.
type cut struct {
	left int           // watches that are yet to be begun anew
	over chan struct{} // closed when what they must not see has happened
}

func newTraffic() *traffic {
	return &traffic{streams: map[*stream]bool{}, cuts: map[string]*cut{}, lists: map[string]int{}}
}

// of makes the traffic that of an engine.
func (t *traffic) of(cfg *engine.Config) {
	cfg.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return sender(func(r *http.Request) (*http.Response, error) { return t.send(next, r) })
	})
}

func (t *traffic) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	query := r.URL.Query()
	if query.Get("watch") != "true" {
		return next.RoundTrip(r)
	}
	if t.isCut(resource) && query.Get("resourceVersion") != "" {
		return gonePast(r), nil
	}
	if query.Get("sendInitialEvents") == "true" {
		t.mu.Lock()
		t.lists[resource]++
		t.mu.Unlock()
	}
	response, err := next.RoundTrip(r)
	if err == nil {
		s := &stream{ReadCloser: response.Body, resource: resource, metadata: strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")}
		s.closed = func() { t.forget(s) }
		t.mu.Lock()
		t.streams[s] = true
		t.mu.Unlock()
		response.Body = s
	}
	return response, err
}

// gonePast is the answer of an API server that has forgotten the version that a watch wants to go on from.
func gonePast(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusGone, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}`)),
	}
}

func (t *traffic) forget(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.streams, s)
}

// isCut says whether a watch of a resource is one that was cut, once what it must not see has happened.
func (t *traffic) isCut(resource string) bool {
	t.mu.Lock()
	c := t.cuts[resource]
	if c == nil || c.left == 0 {
		t.mu.Unlock()
		return false
	}
	c.left--
	t.mu.Unlock()
	<-c.over
	return true
}

// cut ends the watches of a resource, does something that they do not see, and lets those expire that try to go on.
func (t *traffic) cut(resource string, meanwhile func()) {
	var all []*stream
	t.mu.Lock()
	for s := range t.streams {
		if s.resource == resource {
			all = append(all, s)
		}
	}
	c := &cut{len(all), make(chan struct{})}
	t.cuts[resource] = c
	t.mu.Unlock()
	defer close(c.over)
	for _, s := range all {
		_ = s.Close()
	}
	meanwhile()
}

// begun counts the lists that the watches of a resource began with.
func (t *traffic) begun(resource string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lists[resource]
}

// open counts the running watches of a resource's objects, the inventories' apart.
func (t *traffic) open(resource string) int { return t.count(resource, false) }

// metadata counts those of metadata alone.
func (t *traffic) metadata(resource string) int { return t.count(resource, true) }

func (t *traffic) count(resource string, metadata bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for s := range t.streams {
		if s.resource == resource && s.metadata == metadata {
			n++
		}
	}
	return n
}

// stream is the body of a watch.
type stream struct {
	io.ReadCloser
	resource string
	metadata bool
	closed   func()
}

// Close ends the watch.
func (s *stream) Close() error {
	s.closed()
	return s.ReadCloser.Close()
}
