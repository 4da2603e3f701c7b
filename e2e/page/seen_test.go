//go:build page

package page_test

import (
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The parts of the page, as its viewers know them.
const (
	live    = `[aria-current=true]`
	state   = `section[aria-label=State]`
	next    = `section[aria-label="What can happen next"]`
	came    = `section[aria-label="How it came here"]`
	panel   = `[role=tabpanel]`
	tabs    = `[role=tab]`
	trouble = `section.trouble`
)

var _ = Describe("The page", func() {
	It("shows a cluster as it is: its state, how it came there, what comes next, acts, objects to look at, plan and history, as they change", func(ctx SpecContext) {
		install(ctx)
		_, address := look(prod)
		t := newTab()
		t.open(address)

		By("showing what is installed")
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		t.sees(state, "Installed", "everything is as it should be", "Since")
		t.sees(next, "GateLost leads to Degraded", "PauseAsked leads to Paused", "No")
		t.sees(came, "Pruning to Installed by OrphansGone", "WaitingOnInfra to Planning by InfrastructureKnown", "the platform is AWS")
		t.sees(`.line.came title`)
		Expect(t.texts(`.line.came title`)).To(ContainElement(ContainSubstring("Pruning to Installed: OrphansGone")))
		Expect(t.texts(`.line.next title`)).To(ContainElement(ContainSubstring("Installed to Paused: PauseAsked")))
		t.sees(panel, "Revision 1", "wave 1/", "2/2", "installed", "Ready")
		t.sees(`header .live`, "live")

		By("showing an act with its end, and its words as text")
		capstan(ctx, "pause", "--for", "1h", "--reason", markup, "--yes")
		Eventually(func() string { return t.text(live) }).Should(Equal("Paused"))
		t.sees(state, "Paused", markup)
		t.click(tabs, "Acts")
		t.sees(panel, "pause", "stands", markup, "Ends in 59m", "capstan resume")
		Expect(eval[int](t, `document.querySelectorAll("img[src=x], b b").length`)).To(BeZero())
		Expect(eval[string](t, `document.title`)).To(Equal("Capstan"))

		By("showing an upgrade that meets an object of others")
		capstan(ctx, "resume", "--yes")
		foreign(ctx)
		Expect(env.SetImages(ctx, provider(ctx, "two", "alpha", "beta", "shared"))).To(Succeed())
		Eventually(func() string { return t.text(live) }).WithTimeout(patience).Should(Equal("Applying"))
		t.sees(next, "RevisionApplied leads to Pruning", "Degraded", "in ")
		t.click(tabs, "Look")
		t.sees(panel, "ConfigMap openshift-cluster-api/shared", "administrator", "capstan")
		t.click(tabs, "Waves")
		t.sees(panel, "Revision 2", "desired", "2/3")

		By("planning on demand")
		t.click(tabs, "Plan")
		t.click(panel+" button", "Make a plan")
		Eventually(func() string { return t.text(panel) }).WithTimeout(patience).Should(And(ContainSubstring("collide"), ContainSubstring("shared"), ContainSubstring("What stops it")))

		By("showing the history, the objects and the conditions")
		t.click(tabs, "History")
		t.sees(panel, "4.22.0", "Cause")
		t.click(tabs, "Objects")
		t.sees(panel, "objects, by revision and wave", "ConfigMap openshift-cluster-api/alpha")
		t.click(tabs, "Conditions")
		t.sees(panel, "Progressing", "EphemeralError")
		t.click(tabs, "Commands")
		t.sees(panel, "capstan status")
		t.click(`.machines button`, "compatibility")
		t.sees(`main`, "CompatibilityRequirement", "0 instances", "There are none.")

		Expect(t.complaints()).To(BeEmpty())
		keepsItsToken(t, address)
	})

	It("copies a command, and runs none", func(ctx SpecContext) {
		install(ctx)
		_, address := look(prod)
		t := newTab()
		for _, permission := range []string{"clipboard-read", "clipboard-write"} {
			_, err := chromedp.CallBrowser(t.ctx, browser.SetPermission, browser.SetPermissionParams{
				Permission: &browser.PermissionDescriptor{Name: permission}, Setting: browser.PermissionSettingGranted, Origin: strings.TrimSuffix(origin(address), "/"),
			})
			Expect(err).NotTo(HaveOccurred())
		}
		t.open(address)
		t.click(tabs, "Commands")
		t.sees(panel, "capstan status")
		command := t.text(panel + " .command code")
		t.click(panel+" .command button", "Copy")
		t.sees(panel+" .command button", "Copied")
		t.sees(`[role=status]`, "Copied: "+command)
		Expect(eval[string](t, `navigator.clipboard.readText()`)).To(Equal(command))
		for _, request := range t.requests() {
			Expect(request.Method).To(Or(Equal("GET"), And(Equal("POST"), WithTransform(func(string) string { return request.URL }, HaveSuffix("/api/session")))))
		}
		Expect(t.complaints()).To(BeEmpty())
	})

	It("shows the trouble of a context that does not answer, while another one works", func(ctx SpecContext) {
		install(ctx)
		_, address := look(prod, hangs)
		t := newTab()
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		Eventually(func() []string { return t.texts(`.contexts button`) }).WithTimeout(patience).Should(ConsistOf(And(HavePrefix(prod), HaveSuffix("Installed")), And(HavePrefix(hangs), HaveSuffix("trouble"))))
		t.click(`.contexts button`, hangs)
		t.sees(trouble, "does not answer")
		t.click(`.contexts button`, prod)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		Expect(t.text(trouble)).To(BeEmpty())
		Expect(t.complaints()).To(BeEmpty())
	})

	It("says what to do when there is no session, and when one has ended", func(ctx SpecContext) {
		install(ctx)
		first, address := look(prod)
		t := newTab()
		t.open(origin(address))
		t.sees(`main`, "There is no session", "Press Enter in the terminal")

		t.open("about:blank")
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		Expect(eval[string](t, `location.href`)).To(Equal(origin(address)))
		t.do(chromedp.Reload())
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))

		other := newTab()
		other.open(address)
		other.sees(`main`, "There is no session", "was used", "Enter")
		t.sees(`main`, "There is no session", "over", "Enter")
		Expect(first.said()).To(ContainSubstring("opened a second time"))

		d, address := look(prod)
		t.open("about:blank")
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		Expect(d.process.Stop(5 * time.Second)).To(Succeed())
		t.sees(trouble, "does not answer", "terminal")
		t.sees(`header .live`, "old")
	})

	It("reaches nothing but loopback", func() {
		t := newTab()
		for _, elsewhere := range []string{"http://example.com/", "http://192.0.2.1/"} {
			Expect(chromedp.Do(t.ctx, chromedp.Navigate(elsewhere))).To(MatchError(ContainSubstring("net::ERR_")))
		}
	})
})

// keepsItsToken looks at all that a tab has asked for: of its own server alone, with the token in a header and nowhere else.
func keepsItsToken(t *tab, address string) {
	GinkgoHelper()
	token := eval[string](t, `sessionStorage.getItem("capstan-token")`)
	Expect(token).NotTo(BeEmpty())
	for _, request := range t.requests() {
		Expect(request.URL).To(HavePrefix(origin(address)))
		Expect(request.URL).NotTo(Or(ContainSubstring(token), ContainSubstring("code=")))
		Expect(request.URLFragment).NotTo(ContainSubstring(token))
		if strings.Contains(request.URL, "/api/") && !strings.HasSuffix(request.URL, "/api/session") {
			Expect(request.Headers).To(HaveKeyWithValue("Capstan-Token", token), request.URL)
		}
	}
	Expect(call(t, network.GetCookies, network.GetCookiesParams{}).Cookies).To(BeEmpty())
}
