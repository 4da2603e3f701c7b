package engine_test

import (
	"encoding/base64"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

// completeWhen is a copy of an object with a condition of its own.
func completeWhen(o *unstructured.Unstructured, expression string) *unstructured.Unstructured {
	return annotated(o, engine.CompleteAnnotation, expression)
}

var _ = Describe("A manifest's own condition", func() {
	It("case 71: that compares two fields is False when one of them is missing", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := completeWhen(w.instance("gadget", "a"), `has(self.spec.size) && has(self.spec.note) && string(self.spec.size) == self.spec.note`)
		e, rev := w.start(), of(1, w.crd("gadget"), wanted)
		report := e.until(ctx, rev, probing(wanted, engine.AnswerFalse))
		Expect(report.Complete()).To(BeFalse())
		w.merge(ctx, "other", wanted, `{"spec":{"note":"1"}}`)
		e.converge(ctx, rev)
	})

	It("case 72: is refused with a terminal error when it cannot be true or false, and waits while it cannot be told", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		since := mark(ctx)
		for number, bad := range []string{"self.status.ready", "'true'", "self.status ==", "nobody.status == 1"} {
			_, err := e.apply(ctx, of(int64(number+1), completeWhen(w.configMap("a"), bad)))
			Expect(terminal(err)).To(BeTrue(), bad)
			Expect(err.Error()).To(And(ContainSubstring("ConfigMap "+w.namespace+"/a"), ContainSubstring(engine.CompleteAnnotation)))
		}
		Expect(w.writes(ctx, since)).To(BeEmpty())

		wanted := completeWhen(w.configMap("a", "key", "value"), "self.data.state == 'ready'")
		rev := revision(9, component("core", wanted), component("later", w.configMap("b")))
		report := e.until(ctx, rev, probing(wanted, engine.AnswerUnknown))
		Expect(report.Blocked()).To(ContainSubstring("no such key"))
		w.merge(ctx, "other", wanted, `{"data":{"state":"starting"}}`)
		e.until(ctx, rev, probing(wanted, engine.AnswerFalse))
		Expect(w.isGone(ctx, w.configMap("b"))).To(Succeed())
		w.merge(ctx, "other", wanted, `{"data":{"state":"ready"}}`)
		e.converge(ctx, rev)
		Expect(w.uid(ctx, w.configMap("b"))).NotTo(BeEmpty())
	})

	It("case 74: is the only one for a kind that has nothing to wait for, and without one it passes", func(ctx SpecContext) {
		w := begin(ctx)
		plain := []*unstructured.Unstructured{w.configMap("a"), w.service("a"), w.clusterRole("a"), w.serviceAccount("a")}
		waiting := completeWhen(w.configMap("b"), "has(self.data)")
		e := w.start()
		report := e.until(ctx, of(1, append(plain, waiting)...), func(report *engine.Report) error {
			for _, o := range plain {
				if !in(report, o).Complete() {
					return errors.New(report.String())
				}
			}
			return probing(waiting, engine.AnswerFalse)(report)
		})
		Expect(report.Complete()).To(BeFalse())
	})

	It("case 75: comes on top of what the kind is asked, and what is not known yet outweighs what is wrong", func(ctx SpecContext) {
		w := begin(ctx)
		release := w.hold(ctx, "a", "")
		wanted := completeWhen(w.deployment("a"), "self.metadata.annotations['approved'] == 'yes'")
		e, rev := w.start(), of(1, wanted)
		report := e.until(ctx, rev, func(report *engine.Report) error {
			found, err := w.get(ctx, wanted)
			return errors.Join(err, probing(wanted, engine.AnswerUnknown)(report), has(found, found.GetGeneration(), "status", "observedGeneration"))
		})
		Expect(in(report, wanted).Probe.Message).To(And(ContainSubstring("no such key"), Not(ContainSubstring("replicas"))))
		w.merge(ctx, "other", wanted, `{"metadata":{"annotations":{"approved":"yes"}}}`)
		report = e.until(ctx, rev, probing(wanted, engine.AnswerFalse))
		Expect(in(report, wanted).Probe.Message).To(ContainSubstring("replicas"))
		release()
		e.converge(ctx, rev)
	})
})

var _ = Describe("An object that asks service CA for something", func() {
	It("case 85: is not written again however often its CA bundle and its annotations change", func(ctx SpecContext) {
		w := begin(ctx)
		asking := func(o *unstructured.Unstructured) *unstructured.Unstructured {
			return annotated(o, "service.beta.openshift.io/inject-cabundle", "true")
		}
		hook := w.webhookBehind("manager", "hook")
		hooks := field(hook.DeepCopy(), "webhooks").([]any)
		hooks[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = "Cg==" // as controller-gen leaves it
		hook = with(hook, hooks, "webhooks")
		service := annotated(w.service("manager"), "service.beta.openshift.io/serving-cert-secret-name", "cert")
		trust := asking(w.configMap("trust", "key", "value"))
		rev := of(1, service, trust, asking(w.crd("gadget")), w.deployment("manager"), hook)
		e := w.start()
		e.converge(ctx, rev)
		Expect(field(w.fetch(ctx, hook), "webhooks").([]any)[0]).To(HaveKeyWithValue("clientConfig", HaveKey("caBundle")))

		since := mark(ctx)
		for round := range 5 {
			w.merge(ctx, "service-ca", service, fmt.Sprintf(`{"metadata":{"annotations":{"service.beta.openshift.io/serving-cert-signed-by":"%d"}}}`, round))
			w.put(ctx, "service-ca", trust, func(o *unstructured.Unstructured) {
				Expect(unstructured.SetNestedStringMap(o.Object, map[string]string{"service-ca.crt": fmt.Sprint(round)}, "data")).To(Succeed())
			})
			e.until(ctx, rev, func(report *engine.Report) error {
				return errors.Join(acted(service, engine.Idle)(report), acted(trust, engine.Idle)(report), acted(hook, engine.Idle)(report), complete(report))
			})
		}
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})
})

var _ = Describe("What a kind is asked", func() {
	It("is to be bound, of a claim, which waits beside the pods that want it", func(ctx SpecContext) {
		w := begin(ctx)
		claim := w.object(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: $NS, name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: "", volumeName: $NAME-data, resources: {requests: {storage: 1Gi}}}
`)
		hook := w.webhook("hook")
		e, rev := w.start(), of(1, claim, w.deployment("manager"), hook)
		e.until(ctx, rev, func(report *engine.Report) error {
			return errors.Join(probing(claim, engine.AnswerFalse)(report), probing(w.deployment("manager"), engine.AnswerTrue)(report))
		})
		Expect(w.isGone(ctx, hook)).To(Succeed())
		w.create(ctx, w.object(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: $NAME-data}
spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /none}}
`))
		e.converge(ctx, rev)
	})

	It("is nothing, of an admission policy whose expressions do not fit the types, which is told", func(ctx SpecContext) {
		w := begin(ctx)
		policy := func(expression string) *unstructured.Unstructured {
			return with(w.object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NAME-policy}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
`), []any{map[string]any{"expression": expression}}, "spec", "validations")
		}
		e := w.start()
		wrong := policy("object.spec.replicas.startsWith('1')")
		e.converge(ctx, of(1, wrong))
		report := e.until(ctx, of(1, wrong), func(report *engine.Report) error {
			if found := report.WithFindings(); len(found) != 1 || !report.Complete() {
				return fmt.Errorf("%d objects are told of, complete is %t", len(found), report.Complete())
			}
			return nil
		})
		Expect(in(report, wrong).Probe.Message).To(And(ContainSubstring("spec.validations[0].expression"), ContainSubstring("startsWith")))
		report = e.converge(ctx, of(2, policy("object.spec.replicas > 0")))
		Expect(report.WithFindings()).To(BeEmpty())
	})

	It("is to have its CA bundle, of a webhook that asks for one", func(ctx SpecContext) {
		w := begin(ctx)
		hook := annotated(w.webhook("hook"), "cert-manager.io/inject-ca-from", "nobody/here")
		e, rev := w.start(), of(1, hook)
		report := e.until(ctx, rev, probing(hook, engine.AnswerUnknown))
		Expect(report.Blocked()).To(ContainSubstring("CA bundle"))
		w.put(ctx, "cert-manager", hook, func(o *unstructured.Unstructured) {
			hooks := field(o, "webhooks").([]any)
			hooks[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = base64.StdEncoding.EncodeToString(w.config.CAData)
		})
		e.converge(ctx, rev)
		since := mark(ctx)
		e.converge(ctx, rev)
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})
})
