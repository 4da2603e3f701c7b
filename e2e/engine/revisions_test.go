package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The components of a revision", func() {
	It("case 54: are not touched while a probe of an earlier one is Unknown or False", func(ctx SpecContext) {
		w := begin(ctx)
		w.hold(ctx, "manager", "")
		rev := revision(1, component("core", w.deployment("manager")), component("later", w.configMap("a")))
		e := w.start()
		e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		report, err := e.apply(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, w.configMap("a")).Action).To(Equal(engine.Pending))
		Expect(report.Blocked()).To(And(ContainSubstring("wave 1/2"), ContainSubstring("manager")))
		Expect(w.isGone(ctx, w.configMap("a"))).To(Succeed())
	})

	It("case 55: are applied when the probe passes, without a call from outside", func(ctx SpecContext) {
		w := begin(ctx)
		release := w.hold(ctx, "manager", "")
		rev := revision(1, component("core", w.deployment("manager")), component("later", w.configMap("a")))
		e := w.start()
		e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		release()
		e.converge(ctx, rev)
		Expect(w.uid(ctx, w.configMap("a"))).NotTo(BeEmpty())
	})

	It("case 56: are all kept as they were once they were reached, though an earlier one breaks, which the report shows", func(ctx SpecContext) {
		w := begin(ctx)
		early, late := w.configMap("early", "key", "value"), w.configMap("late", "key", "value")
		rev := revision(1, component("core", early, w.deployment("manager")), component("later", late))
		e := w.start()
		e.converge(ctx, rev)
		w.crash(ctx, "manager", "")
		e.until(ctx, rev, probing(w.deployment("manager"), engine.AnswerFalse))
		for _, drifted := range []*unstructured.Unstructured{early, late} {
			w.merge(ctx, "other", drifted, `{"data":{"key":"theirs"}}`)
			report := e.until(ctx, rev, acted(drifted, engine.Recovered))
			Expect(report.Complete()).To(BeFalse())
			Expect(report.Blocked()).To(ContainSubstring("manager"))
			Expect(field(w.fetch(ctx, drifted), "data", "key")).To(Equal("value"))
		}
	})

	It("case 57: are refused when one object is in two of them, and nothing is written", func(ctx SpecContext) {
		w := begin(ctx)
		since := mark(ctx)
		report, err := w.start().Reconcile(ctx, revision(1, component("core", w.configMap("a"), w.configMap("b")), component("later", w.configMap("a"))))
		Expect(terminal(err)).To(BeTrue())
		Expect(report.Blocked()).To(And(ContainSubstring("core"), ContainSubstring("later"), ContainSubstring("/a")))
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})
})

var _ = Describe("A revision after another", func() {
	It("case 58: does not keep the former one from being repaired where they share nothing", func(ctx SpecContext) {
		w := begin(ctx)
		former := of(1, w.configMap("shared", "key", "one"), w.configMap("alone", "key", "one"))
		w.hold(ctx, "stuck", "")
		desired := revision(2, component("core", w.configMap("shared", "key", "two")), component("later", w.deployment("stuck")))
		e := w.start()
		e.install(ctx, former)
		e.Watch(former, desired)
		e.until(ctx, desired, probing(w.deployment("stuck"), engine.AnswerFalse))
		w.merge(ctx, "other", w.configMap("alone"), `{"data":{"key":"theirs"}}`)
		since := mark(ctx)
		e.maintain(ctx, former, acted(w.configMap("alone"), engine.Recovered))
		Expect(field(w.fetch(ctx, w.configMap("alone")), "data", "key")).To(Equal("one"))
		report := e.maintain(ctx, former, complete)
		Expect(in(report, w.configMap("shared")).Action).To(Equal(engine.Progressed))
		Expect(field(w.fetch(ctx, w.configMap("shared")), "data", "key")).To(Equal("two"))
		Expect(about(w.configMap("shared"), w.writes(ctx, since))).To(BeEmpty())
	})

	It("case 59: removes what only the former one had, and keeps what they share", func(ctx SpecContext) {
		w := begin(ctx)
		shared := []*unstructured.Unstructured{w.crd("gadget"), w.deployment("manager"), w.configMap("a", "key", "one")}
		old := []*unstructured.Unstructured{w.configMap("old"), w.clusterRole("old"), w.deployment("older")}
		e := w.start()
		e.install(ctx, of(1, append(slices.Clone(shared), old...)...))
		before := w.uids(ctx, shared...)
		report := e.install(ctx, of(2, shared...))
		Expect(report.Gone).To(HaveLen(len(old)))
		Expect(w.uids(ctx, shared...)).To(Equal(before))
		for _, o := range old {
			Expect(w.isGone(ctx, o)).To(Succeed())
		}
		Expect(e.Orphans(of(2, shared...)).Revisions).To(BeEmpty())
	})

	It("case 60: is complete while a finalizer keeps something old from going, which the prune names", func(ctx SpecContext) {
		w := begin(ctx)
		stuck, rev := w.configMap("stuck"), of(2, w.configMap("a"))
		e := w.start()
		e.install(ctx, of(1, w.configMap("a"), stuck))
		w.merge(ctx, "other", stuck, `{"metadata":{"finalizers":["test.capstan.io/hold"]}}`)
		e.converge(ctx, rev)
		Expect(e.drive(ctx, "the prune to name the finalizer", func(ctx context.Context) (bool, error) {
			report, err := e.Teardown(ctx, rev)
			if err != nil || report.Complete() || len(report.Waiting) != 1 || report.Waiting[0].Key != engine.KeyOf(stuck) {
				return true, fmt.Errorf("%+v, %w", report, err)
			}
			Expect(report.Blocked()).To(And(ContainSubstring("stuck"), ContainSubstring("test.capstan.io/hold")))
			return false, nil
		})).To(Succeed())
		Expect(e.Look(rev).Complete()).To(BeTrue())
		Expect(e.Forget(ctx, rev, &engine.TeardownReport{Waiting: []engine.Orphan{{}}})).NotTo(Succeed())
		w.merge(ctx, "other", stuck, `{"metadata":{"finalizers":null}}`)
		e.install(ctx, rev)
		Expect(w.isGone(ctx, stuck)).To(Succeed())
	})

	It("case 61: claims upward what a rollback wants again, and deletes and creates nothing", func(ctx SpecContext) {
		w := begin(ctx)
		one := []*unstructured.Unstructured{w.crd("gadget"), w.configMap("a", "key", "one"), w.deployment("manager")}
		two := []*unstructured.Unstructured{w.crd("gadget"), w.configMap("a", "key", "two"), w.deployment("manager")}
		e := w.start()
		e.install(ctx, of(1, one...))
		before := w.uids(ctx, one...)
		e.converge(ctx, of(2, two...))
		since := mark(ctx)
		e.install(ctx, of(3, one...))
		Expect(w.uids(ctx, one...)).To(Equal(before))
		Expect(field(w.fetch(ctx, one[1]), "data", "key")).To(Equal("one"))
		for _, o := range one {
			Expect(number(w.fetch(ctx, o))).To(Equal("3"))
			Expect(verbs(about(o, w.writes(ctx, since)))).To(HaveEach("patch"))
		}
	})

	It("case 62: without any object removes all there was in reverse order, and retains a definition that has instances", func(ctx SpecContext) {
		w := begin(ctx)
		core := []*unstructured.Unstructured{
			w.crd("held"), w.crd("free"), w.serviceAccount("manager"), w.service("manager"), w.deployment("manager"),
		}
		later := component("later", w.configMap("late"), w.deployment("later"))
		e := w.start()
		e.install(ctx, revision(1, component("core", core...), later))
		w.create(ctx, w.instance("held", "mine"))
		e.install(ctx, revision(2, component("core", append(core, w.webhook("hook"))...), later))
		since := mark(ctx)
		report := e.install(ctx, revision(3))
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Key.Name).To(Equal(w.crd("held").GetName()))
		Expect(report.WhyRetained()).To(ContainSubstring("1 instance"))
		Expect(w.uid(ctx, w.instance("held", "mine"))).NotTo(BeEmpty())
		deleted := successful(w.requests(ctx, since)).Where(func(r cluster.Request) bool {
			return r.Verb == "delete" && r.Name != "capstan-inventory-2"
		})
		var order []string
		for _, r := range deleted {
			order = append(order, r.Resource+" "+r.Name)
		}
		Expect(order).To(HaveExactElements(
			"deployments later", "configmaps late",
			"validatingwebhookconfigurations "+w.name("hook"), "deployments manager",
			BeElementOf("services manager", "serviceaccounts manager"), BeElementOf("services manager", "serviceaccounts manager"),
			"customresourcedefinitions "+w.crd("free").GetName(),
		))
	})

	It("case 65: is refused under a number that other content was begun with, and nothing is written", func(ctx SpecContext) {
		w := begin(ctx)
		first := w.start()
		first.converge(ctx, of(1, w.configMap("a", "key", "one")))
		first.stop()
		since := mark(ctx)
		e := w.start()
		other := of(1, w.configMap("a", "key", "two"), w.configMap("b"))
		e.see(ctx, other)
		report, err := e.Reconcile(ctx, other)
		Expect(terminal(err)).To(BeTrue())
		Expect(report.Complete()).To(BeFalse())
		Expect(report.Blocked()).To(ContainSubstring("number 1 was begun with content"))
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})

	It("case 66: says that a deadline is exceeded, and does not say so any more when it succeeds later", func(ctx SpecContext) {
		w := begin(ctx)
		release := w.hold(ctx, "manager", "")
		wanted := with(w.deployment("manager"), int64(1), "spec", "progressDeadlineSeconds")
		e := w.start()
		before := e.until(ctx, of(1, wanted), func(report *engine.Report) error {
			if p := in(report, wanted).Probe; p.Answer != engine.AnswerFalse || !strings.Contains(p.Message, "ProgressDeadlineExceeded") {
				return errors.New(report.String())
			}
			return nil
		})
		Expect(before.Blocked()).To(ContainSubstring("ProgressDeadlineExceeded"))
		release()
		after := e.converge(ctx, of(1, wanted))
		Expect(after.Blocked()).To(BeEmpty())
		Expect(after.Progress()).NotTo(Equal(before.Progress()))
	})

	It("case 67: owns nothing: when all that stands for the installation is deleted, definitions and instances survive", func(ctx SpecContext) {
		w := begin(ctx)
		objects := []*unstructured.Unstructured{w.crd("gadget"), w.configMap("a"), w.deployment("manager")}
		e := w.start()
		e.install(ctx, of(1, objects...))
		w.create(ctx, w.instance("gadget", "mine"))
		e.stop()
		objects = append(objects, w.instance("gadget", "mine"))
		before := w.uids(ctx, objects...)
		for _, o := range objects {
			Expect(w.fetch(ctx, o).GetOwnerReferences()).To(BeEmpty())
		}
		w.delete(ctx, w.configMap("capstan-inventory-1"))
		eventually(ctx, "the inventory to be gone", func(ctx context.Context) error { return w.isGone(ctx, w.configMap("capstan-inventory-1")) })
		w.start().install(ctx, of(1, objects[:3]...))
		Expect(w.uids(ctx, objects...)).To(Equal(before))
	})
})
