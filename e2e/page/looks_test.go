//go:build page

package page_test

import (
	"github.com/chromedp/cdproto/emulation"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// pale lists the texts whose contrast with what is behind them is less than WCAG's AA asks for: 4.5, and 3 for large ones.
// What is behind a text of the diagram is the box beside it.
const pale = `(() => {
	const parse = (color) => color.match(/[\d.]+/g).map(Number);
	const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
	const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const behind = (e) => {
		for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; }
		return [255, 255, 255];
	};
	const found = [];
	for (const e of document.querySelectorAll("body *")) {
		const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
		if (!text || !e.checkVisibility() || e.matches("title, :disabled, .unseen, .skip")) continue;
		const style = getComputedStyle(e), drawn = e instanceof SVGElement, size = parseFloat(style.fontSize);
		const box = drawn && [...e.parentNode.children].find((one) => one.tagName === "rect");
		const ratio = contrast(parse(drawn ? style.fill : style.color), box ? parse(getComputedStyle(box).fill) : behind(e));
		if (ratio < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5)) found.push(text + ": " + ratio.toFixed(2));
	}
	return found;
})()`

// faint lists the colours of lines and of the focus whose contrast with the page is less than 3.
const faint = `(() => {
	const probe = document.body.appendChild(document.createElement("i"));
	const color = (name) => { probe.style.color = "var(--" + name + ")"; return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number); };
	const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
	const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const found = [];
	for (const line of ["edge", "focus", "blue", "green", "red", "amber"]) for (const ground of ["ground", "paper", "sunk"])
		if (contrast(color(line), color(ground)) < 3) found.push(line + " on " + ground);
	probe.remove();
	return found;
})()`

// moving lists what is animated, or changes slowly.
const moving = `[...document.querySelectorAll("*")].filter((e) => { const s = getComputedStyle(e); return s.animationName !== "none" || s.transitionDuration.split(", ").some((d) => parseFloat(d) > 0) }).map((e) => e.tagName)`

func prefers(name, value string) *emulation.MediaFeature {
	return &emulation.MediaFeature{Name: name, Value: value}
}

var _ = Describe("What the viewer's system prefers", func() {
	It("is followed: light or dark with enough contrast in every section, and nothing moves where nothing is to move", func(ctx SpecContext) {
		install(ctx)
		foreign(ctx)
		Expect(env.SetImages(ctx, provider(ctx, "two", "alpha", "beta", "shared"))).To(Succeed())
		_, address := look(prod, hangs)
		t := newTab()
		t.open(address)
		Eventually(func() string { return t.text(live) }).WithTimeout(patience).Should(Equal("Applying"))

		grounds := map[string]string{}
		for _, mode := range []string{"light", "dark"} {
			t.media(prefers("prefers-color-scheme", mode), prefers("prefers-reduced-motion", "reduce"))
			grounds[mode] = eval[string](t, `getComputedStyle(document.documentElement).backgroundColor`)
			for _, section := range t.texts(tabs) {
				t.click(tabs, section)
				t.sees(`[role=tab][aria-selected=true]`, section)
				Expect(eval[[]string](t, pale)).To(BeEmpty(), "%s in %s", section, mode)
			}
			t.click(`.machines button`, "compatibility")
			t.sees(`main`, "Choose an instance")
			Expect(eval[[]string](t, pale)).To(BeEmpty(), "the family in %s", mode)
			t.click(`.machines button`, "clusterapi")
			t.sees(live, "Applying")
			Expect(eval[[]string](t, faint)).To(BeEmpty(), mode)
			Expect(eval[[]string](t, moving)).To(BeEmpty(), mode)
		}
		Expect(grounds["light"]).NotTo(Equal(grounds["dark"]))
		t.media(prefers("prefers-reduced-motion", "no-preference"))
		Expect(eval[[]string](t, moving)).To(ContainElement("rect"))
		Expect(t.complaints()).To(BeEmpty())
	})

	It("fits a narrow window", func(ctx SpecContext) {
		install(ctx)
		_, address := look(prod)
		t := newTab()
		t.size(420, 900)
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		Expect(eval[int](t, `document.documentElement.scrollWidth`)).To(BeNumerically("<=", 420))
	})
})
