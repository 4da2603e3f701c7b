//go:build page

package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// many is how many objects and instances the page has to bear.
const many = 5000

// What the page may take for so many.
const (
	shownIn  = time.Second
	foundIn  = 100 * time.Millisecond
	mostDOM  = 2000
	mostAsks = 25
)

// clocks notes in the page itself, before anything of it runs, when a state is shown first, and when rows of a list are.
const clocks = `window.seen = {};
new MutationObserver(() => {
	seen.state ??= document.querySelector("[aria-current=true]") && performance.now();
	seen.rows ??= document.querySelector(".row .badge") && performance.now();
}).observe(document, { subtree: true, childList: true });`

// search types a text into a search field, and is back with how many milliseconds passed until a title says that so many match.
const search = `new Promise((done) => {
	const input = document.querySelector("input[type=search]"), began = performance.now();
	const shows = () => document.querySelector(%[1]q)?.innerText.includes(%[2]q) && [...document.querySelectorAll(".row")].every((row) => row.innerText.includes(%[3]q));
	new MutationObserver((_, all) => { if (shows()) { all.disconnect(); requestAnimationFrame(() => done(performance.now() - began)); } })
		.observe(document.body, { subtree: true, childList: true, characterData: true });
	input.value = %[3]q;
	input.dispatchEvent(new Event("input", { bubbles: true }));
})`

// nodes counts all nodes of the document, texts included.
const nodes = `(() => { const all = document.createNodeIterator(document); let n = 0; while (all.nextNode()) n++; return n })()`

var _ = Describe("A crowd", func() {
	It("of 5,000 objects and 5,000 instances is shown in a second, searched in a tenth of one, and is a few nodes and requests", func(ctx SpecContext) {
		Expect(install(ctx).Stop()).To(Succeed())
		crowd(ctx)
		requirements(ctx, many)
		_, address := look(prod)
		t := newTab()
		call(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: clocks})
		t.open(address)
		t.sees(`.machines`, strconv.Itoa(many))

		By("showing the state")
		var shown []float64
		var since int
		for range 5 {
			since = len(t.requests())
			t.do(chromedp.Reload())
			t.sees(`.machines`, strconv.Itoa(many))
			shown = append(shown, eval[float64](t, `seen.state`))
		}
		slices.Sort(shown)
		told("the state is shown, at the median of five, after", shown[2], shownIn)

		By("showing the instances, and finding one")
		began := eval[float64](t, `performance.now()`)
		t.click(`.machines button`, "compatibility")
		t.sees(`.rows`, "requirement-0000")
		told("the list is shown after", eval[float64](t, `seen.rows`)-began, shownIn)
		Expect(eval[int](t, nodes)).To(BeNumerically("<", mostDOM))
		const title = `section[aria-label^="All of"] h2`
		told("an instance is found after", eval[float64](t, fmt.Sprintf(search, title, "1 of them match", "requirement-4321")), foundIn)
		told("a hundred are found after", eval[float64](t, fmt.Sprintf(search, title, "100 of them match", "requirement-12")), foundIn)

		By("scrolling to the end of the list")
		eval[bool](t, `(() => { const input = document.querySelector("input[type=search]"); input.value = ""; return input.dispatchEvent(new Event("input", { bubbles: true })) })()`)
		t.sees(`.rows`, "requirement-0000")
		eval[bool](t, `(() => { const rows = document.querySelector(".rows"); rows.scrollTop = rows.scrollHeight; return true })()`)
		t.sees(`.rows`, "requirement-4999")
		Expect(eval[int](t, nodes)).To(BeNumerically("<", mostDOM))

		By("showing the objects, and finding some")
		t.click(`.machines button`, "clusterapi")
		t.click(tabs, "Objects")
		t.sees(panel, "5000 objects")
		told("objects are found after", eval[float64](t, fmt.Sprintf(search, `.finder .soft`, "1 object,", "crowd-4321")), foundIn)
		Expect(eval[int](t, nodes)).To(BeNumerically("<", mostDOM))
		Expect(len(t.requests()) - since).To(BeNumerically("<", mostAsks+len(t.files(since))))
		Expect(t.complaints()).To(BeEmpty())
	})
})

// told writes how long something took, and holds it to a bound.
func told(what string, ms float64, bound time.Duration) {
	GinkgoHelper()
	AddReportEntry(what, fmt.Sprintf("%.0f ms", ms))
	GinkgoWriter.Printf("%s %.0f ms\n", what, ms)
	Expect(ms).To(BeNumerically("<", float64(bound.Milliseconds())), what)
}

// files are the requests since one that are for the page itself.
func (t *tab) files(since int) (files []string) {
	for _, request := range t.requests()[since:] {
		if !strings.Contains(request.URL, "/api/") {
			files = append(files, request.URL)
		}
	}
	return files
}

// requirements makes so many CompatibilityRequirements with the record of one that is met, as the operator writes it, which must not run.
func requirements(ctx context.Context, count int) {
	GinkgoHelper()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range count {
		group.Go(func() error { return requirement(ctx, fmt.Sprintf("requirement-%04d", i)) })
	}
	Expect(group.Wait()).To(Succeed())
}

func requirement(ctx context.Context, name string) error {
	r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: name}}
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: "{}"}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	if err := env.Client.Create(ctx, r); err != nil {
		return err
	}
	now := metav1.Now()
	record := fmt.Sprintf(`{"uid":%q,"state":"Met","since":%q,"progress":{"done":0,"since":%[2]q},"entry":{"done":0}}`, r.UID, now.UTC().Format(time.RFC3339))
	r.Status.Conditions = []metav1.Condition{
		{Type: "State", Status: metav1.ConditionTrue, Reason: "Met", Message: "Met: " + name + " is met", LastTransitionTime: now},
		{Type: "Record", Status: metav1.ConditionTrue, Reason: "Stored", Message: record, LastTransitionTime: now},
	}
	return env.Client.Status().Update(ctx, r)
}

// inventory is what is stored of a revision's objects, as far as it is needed to list more of them.
const inventory = "inventory.json.gz"

// crowd makes the inventory of revision 1 list many objects; none of them is there, which nobody asks.
func crowd(ctx context.Context) {
	GinkgoHelper()
	stored := &corev1.ConfigMap{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-inventory-1"}, stored)).To(Succeed())
	zip, err := gzip.NewReader(bytes.NewReader(stored.BinaryData[inventory]))
	Expect(err).NotTo(HaveOccurred())
	var content map[string]any
	Expect(json.NewDecoder(zip).Decode(&content)).To(Succeed())
	entries, ok := content["entries"].([]any)
	Expect(ok).To(BeTrue())
	for i := len(entries); i < many; i++ {
		entries = append(entries, map[string]any{"version": "v1", "kind": "ConfigMap", "namespace": harness.CAPINamespace, "name": fmt.Sprintf("crowd-%04d", i), "component": "alpha", "wave": 1})
	}
	content["entries"] = entries
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	Expect(json.NewEncoder(writer).Encode(content)).To(Succeed())
	Expect(writer.Close()).To(Succeed())
	stored.BinaryData[inventory], stored.Data["objects"] = packed.Bytes(), strconv.Itoa(many)
	Expect(env.Client.Update(ctx, stored, harness.Administrator)).To(Succeed())
}
