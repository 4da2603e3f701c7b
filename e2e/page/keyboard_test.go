//go:build page

package page_test

import (
	"slices"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// focused is what has the focus, as a reader of the screen would name it, and whether that is seen.
const focused = `(() => { const e = document.activeElement; return (e.getAttribute("aria-label") || e.innerText || e.textContent || e.tagName).replace(/\s+/g, " ").trim() })()`

// ring is the outline of what has the focus, or of what shows it in its place.
const ring = `(() => {
	const e = document.activeElement, rect = e.querySelector(":scope > rect"), style = getComputedStyle(e);
	if (rect) return getComputedStyle(rect).strokeDasharray !== "none";
	return e.matches(":focus-visible") && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
})()`

// walk presses Tab until something has the focus whose name a matcher takes, and returns all that had it on the way.
func (t *tab) walk(to string) (way []string) {
	GinkgoHelper()
	for range 60 {
		t.press(kb.Tab)
		name := eval[string](t, focused)
		way = append(way, name)
		Expect(eval[bool](t, ring)).To(BeTrue(), "the focus on %q is not seen", name)
		if ok, err := HavePrefix(to).Match(name); err == nil && ok {
			return way
		}
	}
	Fail("Tab does not come to " + to + ", but to " + way[len(way)-1])
	return nil
}

var _ = Describe("The keyboard", func() {
	It("reaches and works everything, and what has the focus is seen", func(ctx SpecContext) {
		install(ctx)
		_, address := look(prod, hangs)
		t := newTab()
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		t.sees(panel, "Revision 1")

		By("going in the order in which it is read")
		way := t.walk("Waves")
		Expect(way[0]).To(Equal("To the content"))
		last := 0
		for _, name := range []string{prod, hangs, "clusterapi", "compatibility", "Installed, the present state", "What it asks before ", "Waves"} {
			at := index(way, name)
			Expect(at).To(BeNumerically(">", last), "%q in %q", name, way)
			last = at
		}
	})

	It("walks the diagram with the arrow keys, and what a state means is told", func(ctx SpecContext) {
		install(ctx)
		_, address := look(prod)
		t := newTab()
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		t.walk("Installed, the present state")
		t.sees(`.diagram figcaption`, "Installed", "drift is repaired here", "On every pass KeepApplied")
		seen := map[string]bool{"Installed": true}
		for _, key := range []string{kb.ArrowUp, kb.ArrowUp, kb.ArrowLeft, kb.ArrowRight, kb.ArrowDown, kb.ArrowUp} {
			t.press(key)
			name := eval[string](t, `document.activeElement.dataset.state`)
			seen[name] = true
			t.sees(`.diagram figcaption`, name)
			Expect(eval[bool](t, ring)).To(BeTrue())
		}
		Expect(len(seen)).To(BeNumerically(">=", 3))
	})

	It("goes through sections and a list", func(ctx SpecContext) {
		Expect(install(ctx).Stop()).To(Succeed())
		requirements(ctx, 40)
		_, address := look(prod)
		t := newTab()
		t.open(address)
		t.sees(panel, "Revision 1")
		t.walk("Waves")
		for _, section := range []string{"Look", "Acts", "Plan", "History", "Objects"} {
			t.press(kb.ArrowRight)
			Expect(eval[string](t, focused)).To(HavePrefix(section))
			t.sees(`[role=tab][aria-selected=true]`, section)
		}
		t.sees(panel, "ConfigMap openshift-cluster-api/alpha")

		t.walk("Search objects")
		t.do(chromedp.KeyEvent("beta"))
		Eventually(func() []string { return t.texts(`.row`) }).Should(ConsistOf(ContainSubstring("ConfigMap openshift-cluster-api/beta")))

		t.open(origin(address))
		t.sees(panel, "Revision 1")
		t.walk("compatibility")
		t.press(kb.Enter)
		t.sees(`.rows`, "requirement-0000")
		t.walk("Search compatibility")
		t.walk("Instances of compatibility")
		t.press(kb.End)
		t.sees(`[aria-selected=true].row`, "requirement-0039")
		t.press(kb.ArrowUp)
		t.sees(`[aria-selected=true].row`, "requirement-0038")
		t.press(kb.Enter)
		t.sees(state, "CompatibilityRequirement requirement-0038", "Met")
		Expect(t.complaints()).To(BeEmpty())
	})
})

// index is where something with a prefix is.
func index(in []string, prefix string) int {
	GinkgoHelper()
	i := slices.IndexFunc(in, func(one string) bool { ok, _ := HavePrefix(prefix).Match(one); return ok })
	Expect(i).To(BeNumerically(">=", 0), "%q in %q", prefix, in)
	return i
}
