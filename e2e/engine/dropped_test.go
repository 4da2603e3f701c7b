package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A value that the API server does not store because it is the empty one", func() {
	It("costs no write more, but one after a restart, which changes nothing", func(ctx SpecContext) {
		w := begin(ctx)
		deployment := w.deployment("manager")
		spec := field(deployment, "spec", "template", "spec").(map[string]any)
		spec["hostNetwork"], spec["hostPID"] = false, false
		spec["volumes"] = []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}}
		container := spec["containers"].([]any)[0].(map[string]any)
		container["tty"], container["stdin"] = false, false
		container["env"] = []any{map[string]any{"name": "EMPTY", "value": ""}}
		container["ports"] = []any{map[string]any{"containerPort": int64(80), "hostPort": int64(0), "protocol": "TCP"}}
		container["volumeMounts"] = []any{map[string]any{"name": "tmp", "mountPath": "/tmp", "readOnly": false, "subPath": ""}}
		crd := with(w.crd("gadget"), false, "spec", "preserveUnknownFields")
		written := []*unstructured.Unstructured{deployment, crd}

		since := mark(ctx)
		rev := of(1, deployment, crd)
		e := w.start()
		e.converge(ctx, rev)
		e.converge(ctx, rev)
		for _, o := range written {
			requests := about(o, successful(w.writes(ctx, since))).Where(func(r cluster.Request) bool { return !r.DryRun })
			Expect(verbs(requests)).To(Equal([]string{"patch"}), requests.String())
		}

		e.stop()
		var versions []string
		for _, o := range written {
			versions = append(versions, w.fetch(ctx, o).GetResourceVersion())
		}
		since = mark(ctx)
		e = w.start()
		e.converge(ctx, rev)
		_, err := e.Reconcile(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		for i, o := range written {
			requests := about(o, w.writes(ctx, since))
			Expect(verbs(requests)).To(Equal([]string{"patch"}), requests.String())
			Expect(w.fetch(ctx, o).GetResourceVersion()).To(Equal(versions[i]))
		}
		_, err = e.Reconcile(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.writes(ctx, since)).To(HaveLen(len(written)))
	})

	It("is asked for once after a restart where a policy refuses that, and again when the object changes", func(ctx SpecContext) {
		w := begin(ctx)
		deployment := with(w.deployment("manager"), false, "spec", "template", "spec", "hostNetwork")
		rev := of(1, deployment)
		e := w.start()
		e.converge(ctx, rev)
		e.stop()
		w.deny(ctx, "apps/deployments", "*", "object == null || object.metadata.name != 'manager' || has(object.metadata.annotations) && 'test/change' in object.metadata.annotations", deployment)

		since := mark(ctx)
		e = w.start()
		e.converge(ctx, rev)
		for range 3 {
			report, err := e.Reconcile(ctx, rev)
			Expect(err).NotTo(HaveOccurred())
			Expect(complete(report)).To(Succeed())
		}
		requests := about(deployment, w.writes(ctx, since))
		Expect(verbs(requests)).To(Equal([]string{"patch"}), requests.String())
		Expect(successful(requests)).To(BeEmpty())

		w.merge(ctx, "other", deployment, `{"metadata":{"annotations":{"test/change":""}}}`)
		e.until(ctx, rev, func(*engine.Report) error {
			if asked := about(deployment, w.writes(ctx, since)); len(successful(asked)) != 1 {
				return fmt.Errorf("it is asked for in %s", asked)
			}
			return nil
		})
		since = mark(ctx)
		_, err := e.Reconcile(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})

	It("is drift when somebody takes away one that it stores, and writes into managedFields that it is ours", func(ctx SpecContext) {
		w := begin(ctx)
		account := with(w.serviceAccount("a"), false, "automountServiceAccountToken")
		e, rev := w.start(), of(1, account)
		e.converge(ctx, rev)
		entries := w.fetch(ctx, account).GetManagedFields()
		w.merge(ctx, "other", account, `{"automountServiceAccountToken":null}`)
		w.put(ctx, "other", account, func(o *unstructured.Unstructured) { o.SetManagedFields(entries) })
		found := w.fetch(ctx, account)
		Expect(field(found, "automountServiceAccountToken")).To(BeNil())
		Expect(holds(found, fieldManager, `"f:automountServiceAccountToken"`)).To(BeTrue())
		e.until(ctx, rev, func(*engine.Report) error { return has(w.fetch(ctx, account), false, "automountServiceAccountToken") })
	})

	It("is drift all the same when somebody takes it away and the API server would fill in another", func(ctx SpecContext) {
		w := begin(ctx)
		account := with(w.serviceAccount("a"), false, "automountServiceAccountToken")
		e, rev := w.start(), of(1, with(w.serviceAccount("a"), false, "automountServiceAccountToken"))
		e.converge(ctx, rev)
		w.merge(ctx, "other", account, `{"automountServiceAccountToken":null}`)
		e.until(ctx, rev, func(*engine.Report) error { return has(w.fetch(ctx, account), false, "automountServiceAccountToken") })
	})
})
