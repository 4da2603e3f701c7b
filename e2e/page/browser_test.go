//go:build page

package page_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// chromium is a browser that reaches nothing but loopback: no other name resolves, and all else goes to a proxy that is not there.
type chromium struct {
	ctx    context.Context
	cancel []context.CancelFunc
	dir    string
}

func launch() *chromium {
	GinkgoHelper()
	dir, err := os.MkdirTemp("", "capstan-page-")
	Expect(err).NotTo(HaveOccurred())
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath("chromium"), chromedp.UserDataDir(dir),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"), chromedp.ProxyServer("127.0.0.1:9"),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-domain-reliability", true),
		chromedp.WindowSize(1360, 900))
	if os.Geteuid() == 0 { // chromium has no sandbox for root
		options = append(options, chromedp.NoSandbox)
	}
	all, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(all)
	b := &chromium{ctx: ctx, cancel: []context.CancelFunc{end, endAll}, dir: dir}
	Expect(chromedp.Do(ctx)).To(Succeed(), "starting chromium: tools/page/needs.sh installs it")
	return b
}

// end ends the browser and removes its profile.
func (b *chromium) end() {
	for _, cancel := range b.cancel {
		cancel()
	}
	Expect(os.RemoveAll(b.dir)).To(Succeed())
}

// tab is a page of the browser, and all that it has complained of and asked for.
type tab struct {
	ctx context.Context

	mu       sync.Mutex
	problems []string
	asked    []*network.Request
}

// newTab opens one, which is closed when the spec ends.
func newTab() *tab {
	GinkgoHelper()
	t := &tab{}
	ctx, cancel := chromedp.NewContext(chrome.ctx, chromedp.WithListener(t.hear))
	DeferCleanup(cancel)
	Expect(chromedp.Do(ctx)).To(Succeed()) // the tab lives as long as the context of its first action
	t.ctx = ctx
	DeferCleanup(t.account)
	call(t, cdplog.Enable, cdp.Empty{})
	call(t, network.Enable, network.EnableParams{})
	t.size(1360, 900)
	return t
}

// account tells what a failed spec has left in the tab.
func (t *tab) account() {
	if !CurrentSpecReport().Failed() {
		return
	}
	GinkgoWriter.Println("the page says:", t.text("body"))
	GinkgoWriter.Println("it complains:", t.complaints())
}

func (t *tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		t.problems = append(t.problems, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if slices.Contains([]string{"error", "warning", "assert"}, string(e.Type)) {
			t.problems = append(t.problems, fmt.Sprintf("console.%s: %s", e.Type, e.Args[0].Value))
		}
	case *cdplog.EventEntryAdded: // a violation of the content policy is one, and a request that was refused
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			t.problems = append(t.problems, strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		t.asked = append(t.asked, e.Request)
	}
}

// complaints are the errors and warnings so far.
func (t *tab) complaints() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.problems)
}

// requests are those so far.
func (t *tab) requests() []*network.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.asked)
}

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	Expect(chromedp.Do(ctx, actions...)).To(Succeed())
}

// call sends a command of the protocol.
func call[P, R any](t *tab, command cdp.Command[P, R], params P) R {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	Expect(err).NotTo(HaveOccurred(), command.Method)
	return result
}

// open goes to an address, and is back when the document is loaded.
func (t *tab) open(address string) {
	GinkgoHelper()
	t.do(chromedp.Navigate(address))
}

// size gives the tab a window of so many pixels.
func (t *tab) size(width, height int64) {
	GinkgoHelper()
	t.do(chromedp.EmulateViewport(width, height))
}

// eval runs a script, and waits for what it promises.
func eval[T any](t *tab, script string) T {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	Expect(err).NotTo(HaveOccurred(), script)
	return result
}

// text is what is seen of the first element that a selector finds; empty while there is none.
func (t *tab) text(selector string) string {
	GinkgoHelper()
	return eval[string](t, fmt.Sprintf(`((e) => (e?.innerText ?? e?.textContent ?? "").trim())(document.querySelector(%q))`, selector))
}

// texts are those of all elements that it finds.
func (t *tab) texts(selector string) []string {
	GinkgoHelper()
	return eval[[]string](t, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => (e.innerText ?? e.textContent).trim())`, selector))
}

// sees waits until the first element that a selector finds shows all texts.
func (t *tab) sees(selector string, texts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := t.text(selector)
		for _, text := range texts {
			g.Expect(seen).To(ContainSubstring(text))
		}
	}).Should(Succeed())
}

// click clicks on the first element of a selector with a text.
func (t *tab) click(selector, text string) {
	GinkgoHelper()
	Eventually(func() bool {
		return eval[bool](t, fmt.Sprintf(`(() => { const e = [...document.querySelectorAll(%q)].find((e) => e.innerText.includes(%q)); e?.click(); return !!e })()`, selector, text))
	}).Should(BeTrue(), "%s with %q", selector, text)
}

// press presses keys, one after the other.
func (t *tab) press(keys ...string) {
	GinkgoHelper()
	for _, key := range keys {
		t.do(chromedp.KeyEvent(key))
	}
}

// media sets what the viewer's system prefers.
func (t *tab) media(features ...*emulation.MediaFeature) {
	GinkgoHelper()
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// shot takes a screenshot of what is seen.
func (t *tab) shot() []byte {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	Expect(err).NotTo(HaveOccurred())
	return png
}
