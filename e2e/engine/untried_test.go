package engine_test

import (
	"errors"
	"net/http"
	"path"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The first installation", func() {
	trial := func(r cluster.Request) bool { return r.DryRun }

	It("case 42: tries nothing of what is absent, not even ahead of its turn", func(ctx SpecContext) {
		w := begin(ctx)
		release := w.hold(ctx, "manager", "")
		rev := revision(1, component("core", w.configMap("a"), w.configMap("b"), w.deployment("manager")), component("later", w.configMap("c"), w.configMap("d")))
		e, since := w.startFirst(), mark(ctx)
		for range 3 { // passes
			e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		}
		release()
		e.converge(ctx, rev)
		tried := w.requests(ctx, since).Where(trial)
		Expect(tried).To(BeEmpty(), tried.String())
	})

	DescribeTable("case 42: writes all of a wave but the object that is refused, and nothing of the next", func(ctx SpecContext, spoil func(*world) *unstructured.Unstructured) {
		w := begin(ctx)
		bad := spoil(w)
		tried, _ := w.start().apply(ctx, of(1, w.configMap("a"), bad))
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())

		e, since := w.startFirst(), mark(ctx)
		rev := revision(2, component("core", w.configMap("a"), bad, w.configMap("b")), component("later", w.configMap("c"), w.configMap("d")))
		report, err := e.apply(ctx, rev)
		Expect(terminal(err)).To(BeTrue(), "%v", err)
		Expect(in(report, bad).Action).To(Equal(engine.Failed))
		Expect(reported(report, bad)).To(Equal(reported(tried, bad)))
		Expect(w.isGone(ctx, bad)).To(Succeed())
		for _, o := range []*unstructured.Unstructured{w.configMap("a"), w.configMap("b")} {
			Expect(in(report, o).Action).To(Equal(engine.Created))
			Expect(w.uid(ctx, o)).NotTo(BeEmpty())
		}
		again, err := e.Reconcile(ctx, rev)
		Expect(terminal(err)).To(BeTrue(), "%v", err)
		Expect(again.Blocked()).To(ContainSubstring(bad.GetName()))
		for _, o := range []*unstructured.Unstructured{w.configMap("c"), w.configMap("d")} {
			Expect(w.isGone(ctx, o)).To(Succeed())
		}
		Expect(w.requests(ctx, since).Where(trial)).To(BeEmpty())

		e.install(ctx, revision(3, component("core", w.configMap("a"), w.configMap("bad")), component("later", w.configMap("c"))))
		Expect(w.isGone(ctx, w.configMap("b"))).To(Succeed(), "it was listed in the inventory of revision 2")
	},
		Entry("because a field is unknown", func(w *world) *unstructured.Unstructured {
			return with(w.configMap("bad"), "no such field", "nonsense")
		}),
		Entry("because a value is out of range", func(w *world) *unstructured.Unstructured {
			return with(w.service("bad"), int64(-1), "spec", "healthCheckNodePort")
		}),
	)

	It("case 48: goes on by itself when a refusal that may heal has", func(ctx SpecContext) {
		w := begin(ctx)
		var healed atomic.Bool
		e := w.startFirst(func(c *engine.Config) {
			c.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return sender(func(r *http.Request) (*http.Response, error) {
					if creates(r) && !healed.Load() && path.Base(r.URL.Path) == "bad" {
						return answer(r, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "bad", errors.New("exceeded quota")))
					}
					return next.RoundTrip(r)
				})
			})
		})
		rev := revision(1, component("core", w.configMap("a"), w.configMap("bad")), component("later", w.configMap("c")))
		report := e.until(ctx, rev, acted(w.configMap("bad"), engine.Failed))
		Expect(terminal(report.Err())).To(BeFalse())
		Expect(w.uid(ctx, w.configMap("a"))).NotTo(BeEmpty())
		Expect(w.isGone(ctx, w.configMap("c"))).To(Succeed())
		healed.Store(true)
		e.converge(ctx, rev)
	})

	It("case 42: tries a wave as a whole of which anything is there, and writes nothing of it when one object is refused", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.startFirst()
		e.converge(ctx, of(1, w.configMap("a", "key", "old")))
		since := mark(ctx)
		bad := with(w.configMap("bad"), "no such field", "nonsense")
		_, err := e.Reconcile(ctx, of(2, w.configMap("a", "key", "new"), bad, w.configMap("b")))
		Expect(terminal(err)).To(BeTrue(), "%v", err)
		Expect(withoutInventories(w.writes(ctx, since))).To(BeEmpty())
		Expect(field(w.fetch(ctx, w.configMap("a")), "data", "key")).To(Equal("old"))
	})

	DescribeTable("case 42: changes nothing that it finds in the cluster when another object is refused", func(ctx SpecContext, trials int, spoil func(*world) *unstructured.Unstructured) {
		w := begin(ctx)
		there, bad := annotated(w.configMap("there", "key", "value"), adopt, "always"), annotated(spoil(w), adopt, "always")
		w.create(ctx, w.configMap("there", "key", "theirs")) // without our label, so that no watch shows it
		w.create(ctx, w.service("bad"))
		e, since := w.startFirst(), mark(ctx)
		report, err := e.apply(ctx, of(1, w.configMap("a"), there, w.configMap("b"), bad))
		Expect(terminal(err)).To(BeTrue(), "%v", err)
		Expect(in(report, bad).Action).To(Equal(engine.Failed))
		Expect(w.uid(ctx, w.configMap("a"))).NotTo(BeEmpty())
		Expect(field(w.fetch(ctx, there), "data", "key")).To(Equal("theirs"))
		tried := w.requests(ctx, since).Where(trial)
		Expect(tried).To(HaveLen(trials), tried.String())
		e.converge(ctx, of(2, w.configMap("a"), there, annotated(w.service("bad"), adopt, "always")))
		Expect(field(w.fetch(ctx, there), "data", "key")).To(Equal("value"))
	},
		Entry("as an update, without effect", 2, func(w *world) *unstructured.Unstructured {
			return with(w.service("bad"), int64(-1), "spec", "healthCheckNodePort")
		}),
		Entry("before anybody knows that it is there", 0, func(w *world) *unstructured.Unstructured {
			return with(w.service("bad"), "no such field", "nonsense")
		}),
	)
})

// refusal is how a report tells of an object that was refused, but for the words of the API server, which has others for
// the unknown fields of an apply than for those of a POST.
type refusal struct {
	action         engine.Action
	component      string
	verb, nextStep string
	reason         engine.Reason
	terminal       bool
}

func reported(report *engine.Report, o *unstructured.Unstructured) refusal {
	GinkgoHelper()
	got := in(report, o)
	var failed *engine.ObjectError
	Expect(errors.As(got.Err, &failed)).To(BeTrue(), "%v", got.Err)
	_, nextStep, _ := strings.Cut(failed.Error(), failed.Err.Error())
	return refusal{got.Action, failed.Component, failed.Verb, nextStep, failed.Reason(), failed.Terminal()}
}

// startFirst is start of an engine that is told that nothing was ever installed.
func (w *world) startFirst(changes ...func(*engine.Config)) *running {
	GinkgoHelper()
	e := w.start(changes...)
	e.first = true
	return e
}
