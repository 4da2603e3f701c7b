package engine_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An inventory that somebody forged", func() {
	It("deletes nothing that the installation has not written", func(ctx SpecContext) {
		w := begin(ctx)
		e, old := w.start(), w.configMap("old")
		e.install(ctx, of(1, old, w.configMap("stays")))
		e.stop()
		marked := w.configMap("theirs")
		marked.SetLabels(map[string]string{engine.ManagedByLabel: "core"})
		marked.SetAnnotations(map[string]string{engine.RevisionAnnotation: "1", engine.OwnerAnnotation: w.owner})
		theirs := w.create(ctx, marked)
		w.forge(ctx, "1", func(entries []any) []any {
			return append(entries, map[string]any{
				"version": "v1", "kind": "ConfigMap", "namespace": theirs.GetNamespace(), "name": theirs.GetName(), "component": "core", "wave": 1, "uid": theirs.GetUID(),
			})
		})
		e = w.start()
		rev := of(2, w.configMap("stays"))
		e.converge(ctx, rev)
		report := e.prune(ctx, rev, 0)
		Expect(report.Left).To(HaveLen(1))
		Expect(report.Left[0].Action).To(Equal(engine.Foreign))
		Expect(report.Left[0].Why).To(ContainSubstring("its managedFields do not say that this installation wrote it"))
		Expect(w.isGone(ctx, old)).To(Succeed())
		Expect(w.uid(ctx, theirs)).To(Equal(theirs.GetUID()))
	})

	It("hides what it leaves out from pruning, and not from whoever reads of strays", func(ctx SpecContext) {
		w := begin(ctx)
		e, old := w.start(), w.configMap("old")
		e.install(ctx, of(1, old, w.configMap("stays")))
		e.stop()
		w.forge(ctx, "1", func([]any) []any { return nil })
		e = w.start()
		rev := of(2, w.configMap("stays"))
		e.install(ctx, rev)
		Expect(w.uid(ctx, old)).NotTo(BeEmpty())
		strays, _ := e.Strays()
		Expect(strays).To(ContainElement(HaveField("Key", engine.KeyOf(old))))
	})
})

// forge changes the entries of an inventory.
func (w *world) forge(ctx context.Context, number string, change func([]any) []any) {
	GinkgoHelper()
	const key = "inventory.json.gz"
	w.put(ctx, "other", w.configMap(inventoryPrefix+number), func(stored *unstructured.Unstructured) {
		encoded, _, _ := unstructured.NestedString(stored.Object, "binaryData", key)
		packed, err := base64.StdEncoding.DecodeString(encoded)
		Expect(err).NotTo(HaveOccurred())
		from, err := gzip.NewReader(bytes.NewReader(packed))
		Expect(err).NotTo(HaveOccurred())
		var inventory map[string]any
		Expect(json.NewDecoder(from).Decode(&inventory)).To(Succeed())
		entries, _ := inventory["entries"].([]any)
		inventory["entries"] = change(entries)
		var forged bytes.Buffer
		to := gzip.NewWriter(&forged)
		Expect(json.NewEncoder(to).Encode(inventory)).To(Succeed())
		Expect(to.Close()).To(Succeed())
		Expect(unstructured.SetNestedField(stored.Object, base64.StdEncoding.EncodeToString(forged.Bytes()), "binaryData", key)).To(Succeed())
	})
}
