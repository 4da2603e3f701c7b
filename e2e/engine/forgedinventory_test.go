package engine_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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
		report := e.prune(ctx, rev, nil)
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

	It("opens few watches, wherever it lists objects, and holds up nobody's pruning", func(ctx SpecContext) {
		w := begin(ctx)
		e, old := w.start(), w.configMap("old")
		e.install(ctx, of(1, old, w.configMap("stays")))
		e.stop()
		w.forge(ctx, "1", func(entries []any) []any {
			for i := range 2000 {
				entries = append(entries, map[string]any{
					"version": "v1", "kind": "Secret", "namespace": fmt.Sprintf("%stenant-%d", w.prefix, i), "name": "x", "component": "core", "wave": 1,
				})
			}
			return entries
		})
		since := mark(ctx)
		e = w.start()
		rev := of(2, w.configMap("stays"))
		e.converge(ctx, rev)
		Expect(e.prune(ctx, rev, nil).Gone).NotTo(BeEmpty())
		Expect(w.isGone(ctx, old)).To(Succeed())
		watched := map[string]bool{}
		for _, r := range w.requests(ctx, since) {
			if r.Resource == "secrets" && (r.Verb == "list" || r.Verb == "watch") {
				watched[r.Namespace] = true
			}
		}
		Expect(len(watched)).To(And(BeNumerically(">", 0), BeNumerically("<=", 256)))
	})

	It("as the announcement of a revision hides nothing from pruning, which waits and says so until it lists nothing", func(ctx SpecContext) {
		w := begin(ctx)
		e, old := w.start(), w.configMap("old")
		e.install(ctx, of(1, old, w.configMap("stays")))
		e.stop()
		w.forgeAs(ctx, "9", func(inventory map[string]any) {
			inventory["number"], inventory["announced"], inventory["inherited"] = 9, true, true
		})
		e = w.start()
		rev := of(2, w.configMap("stays"))
		e.converge(ctx, rev)
		Expect(e.Orphans(rev).Ahead).To(Equal(int64(9)))
		report, err := e.Teardown(ctx, rev)
		Expect(err).To(MatchError(And(ContainSubstring(inventoryPrefix+"9"), ContainSubstring("nothing is applied, and lists something"))))
		Expect(report.Complete()).To(BeFalse())
		Expect(w.uid(ctx, old)).NotTo(BeEmpty())

		e.stop()
		e = w.start()
		eventually(ctx, "the announcement to be made anew", func(ctx context.Context) error {
			return e.Announce(ctx, engine.RevisionRef{Name: "r9", Number: 9, ContentID: "next", Listed: "proof"})
		})
		e.converge(ctx, rev)
		Expect(e.prune(ctx, rev, nil).Gone).To(HaveLen(1))
		Expect(w.isGone(ctx, old)).To(Succeed())
	})

	It("takes no more room than there is for all: what is installed is kept, and pruning waits until those are gone that take it", func(ctx SpecContext) {
		w := begin(ctx)
		e, old := w.start(), w.configMap("old")
		e.install(ctx, of(1, old, w.configMap("stays")))
		e.stop()
		var forged []*unstructured.Unstructured
		for number := 7; number < 15; number++ {
			forged = append(forged, w.forgeAs(ctx, strconv.Itoa(number), func(inventory map[string]any) {
				inventory["number"], inventory["revision"] = number, strings.Repeat("x", 7<<20)
			}))
		}
		e = w.start()
		rev := of(2, w.configMap("stays"))
		e.converge(ctx, rev)
		Expect(e.Proofs().Err).To(MatchError(ContainSubstring("48 MiB")))
		report, err := e.Teardown(ctx, rev)
		Expect(err).To(MatchError(ContainSubstring("48 MiB")))
		Expect(report.Complete()).To(BeFalse())
		Expect(w.uid(ctx, old)).NotTo(BeEmpty())
		for _, o := range forged {
			w.delete(ctx, o)
		}
		eventually(ctx, "those that list what the old one does to be seen to be gone", func(context.Context) error {
			if ahead := e.Orphans(rev).Ahead; ahead != 0 {
				return fmt.Errorf("number %d is there", ahead)
			}
			return nil
		})
		Expect(e.prune(ctx, rev, nil).Gone).To(HaveLen(1))
		Expect(w.isGone(ctx, old)).To(Succeed())
	})
})

// forge changes the entries of an inventory.
func (w *world) forge(ctx context.Context, number string, change func([]any) []any) {
	GinkgoHelper()
	w.put(ctx, "other", w.configMap(inventoryPrefix+number), func(stored *unstructured.Unstructured) {
		repack(stored, func(inventory map[string]any) {
			entries, _ := inventory["entries"].([]any)
			inventory["entries"] = change(entries)
		})
	})
}

// forgeAs makes a changed copy of the inventory of revision 1.
func (w *world) forgeAs(ctx context.Context, number string, change func(inventory map[string]any)) *unstructured.Unstructured {
	GinkgoHelper()
	forged := bare(w.fetch(ctx, w.configMap(inventoryPrefix+"1")))
	forged.SetName(inventoryPrefix + number)
	repack(forged, change)
	return w.create(ctx, forged)
}

// repack changes what a stored inventory says.
func repack(stored *unstructured.Unstructured, change func(inventory map[string]any)) {
	GinkgoHelper()
	const key = "inventory.json.gz"
	encoded, _, _ := unstructured.NestedString(stored.Object, "binaryData", key)
	packed, err := base64.StdEncoding.DecodeString(encoded)
	Expect(err).NotTo(HaveOccurred())
	from, err := gzip.NewReader(bytes.NewReader(packed))
	Expect(err).NotTo(HaveOccurred())
	var inventory map[string]any
	Expect(json.NewDecoder(from).Decode(&inventory)).To(Succeed())
	change(inventory)
	var forged bytes.Buffer
	to := gzip.NewWriter(&forged)
	Expect(json.NewEncoder(to).Encode(inventory)).To(Succeed())
	Expect(to.Close()).To(Succeed())
	Expect(unstructured.SetNestedField(stored.Object, base64.StdEncoding.EncodeToString(forged.Bytes()), "binaryData", key)).To(Succeed())
}
