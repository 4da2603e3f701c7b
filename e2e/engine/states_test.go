package engine_test

import (
	"encoding/base64"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("What happens to an object of ours", func() {
	It("case 25: gets its label back in one pass, and is never taken for deleted", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		uid, changed := w.uid(ctx, wanted), e.change()
		w.merge(ctx, "other", wanted, `{"metadata":{"labels":{"`+engine.ManagedByLabel+`":null}}}`)
		Eventually(changed).WithTimeout(patience).Should(BeClosed())
		report, err := e.Reconcile(ctx, of(1, wanted))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Complete()).To(BeTrue(), report.String())
		found := w.fetch(ctx, wanted)
		Expect(found.GetUID()).To(Equal(uid))
		Expect(found.GetLabels()).To(HaveKeyWithValue(engine.ManagedByLabel, "core"))
	})

	It("case 26: is waited for while it is terminating, and created anew when it is gone", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := w.configMap("a", "key", "value")
		e := w.start()
		e.converge(ctx, of(1, wanted))
		uid := w.uid(ctx, wanted)
		w.merge(ctx, "other", wanted, `{"metadata":{"finalizers":["test.capstan.io/hold"]}}`)
		since := mark(ctx)
		w.delete(ctx, wanted)
		w.merge(ctx, "other", wanted, `{"data":{"key":"theirs"}}`)
		report := e.until(ctx, of(1, wanted), acted(wanted, engine.Terminating))
		Expect(report.Complete()).To(BeFalse())
		Expect(report.Blocked()).To(ContainSubstring("test.capstan.io/hold"))
		Expect(w.writes(ctx, since)).To(BeEmpty())

		w.merge(ctx, "other", wanted, `{"metadata":{"finalizers":null}}`)
		e.converge(ctx, of(1, wanted))
		found := w.fetch(ctx, wanted)
		Expect(found.GetUID()).NotTo(Equal(uid))
		Expect(field(found, "data", "key")).To(Equal("value"))
	})

	It("case 28: does not differ by another spelling of its values", func(ctx SpecContext) {
		w := begin(ctx)
		deployment := w.deployment("manager")
		containers := field(deployment, "spec", "template", "spec", "containers").([]any)
		containers[0].(map[string]any)["resources"] = map[string]any{"requests": map[string]any{"cpu": "1000m", "memory": "1024Mi"}}
		empty := with(w.configMap("empty", "key", "value"), map[string]any{}, "metadata", "labels")
		empty.Object["binaryData"] = nil
		secret := w.object(`{apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: secret}, stringData: {word: open}}`)
		account := w.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $NS, name: account}, secrets: [], imagePullSecrets: null}`)
		rev := of(1, deployment, empty, secret, account)
		e := w.start()
		e.converge(ctx, rev)
		Expect(field(w.fetch(ctx, deployment), "spec", "template", "spec", "containers").([]any)[0]).To(
			HaveKeyWithValue("resources", map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1Gi"}}))
		e.stop()
		since := mark(ctx)
		report := w.start().converge(ctx, rev)
		for o := range report.Objects {
			Expect(o.Action).To(Equal(engine.Idle), report.String())
		}
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})

	It("case 29: keeps the CA bundles that another manager injects and the manifest does not have", func(ctx SpecContext) {
		w := begin(ctx)
		hook, crd := w.webhook("hook"), w.crd("gadget")
		e := w.start()
		e.converge(ctx, of(1, crd, hook))
		bundle := base64.StdEncoding.EncodeToString(w.config.CAData)
		w.put(ctx, "injector", hook, func(o *unstructured.Unstructured) {
			hooks := field(o, "webhooks").([]any)
			hooks[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = bundle
		})
		conversion := map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"service": map[string]any{"namespace": w.namespace, "name": "none"}},
		}}
		converting := with(crd, conversion, "spec", "conversion")
		e.converge(ctx, of(2, converting, hook))
		since := mark(ctx)
		w.put(ctx, "injector", converting, func(o *unstructured.Unstructured) {
			Expect(unstructured.SetNestedField(o.Object, bundle, "spec", "conversion", "webhook", "clientConfig", "caBundle")).To(Succeed())
		})
		e.until(ctx, of(2, converting, hook), func(report *engine.Report) error {
			if field(w.fetch(ctx, crd), "spec", "conversion", "webhook", "clientConfig", "caBundle") != bundle {
				return errors.New("the bundle is not there")
			}
			return errors.Join(acted(crd, engine.Idle)(report), acted(hook, engine.Idle)(report))
		})
		Expect(w.writes(ctx, since)).To(BeEmpty())
		Expect(field(w.fetch(ctx, hook), "webhooks").([]any)[0]).To(HaveKeyWithValue("clientConfig", HaveKeyWithValue("caBundle", bundle)))
	})
})
