package clusterapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("capstan dashboard", func() {
	It("shows with read rights alone what happens as it happens, and asks for nothing else", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		bind(ctx, "capstan-view", "viewer")
		bindRoles(ctx, "capstan-view", "viewer", harness.OperatorNamespace)
		since := mark(ctx)
		page := serve(ctx, as("viewer"))

		By("having nobody in who does not come from the page")
		Expect(page.status(ctx, "GET", "/api/contexts", func(r *http.Request) { r.Header.Del("Capstan-Token") })).To(Equal(http.StatusUnauthorized))
		Expect(page.status(ctx, "GET", "/api/contexts", func(r *http.Request) { r.Host = "evil.example" })).To(Equal(http.StatusForbidden))
		Expect(page.status(ctx, "GET", "/", func(r *http.Request) { r.Header.Del("Capstan-Token") })).To(Equal(http.StatusOK))

		By("showing an upgrade as it happens")
		lines := page.watch(ctx)
		first := lines.until(ctx, "Installed", func(v dashboardView) bool { return v.How == "watch" && v.Machines[0].State == "Installed" })
		Expect(first.Release).To(Equal("4.22.0"))
		Expect(first.Unread).To(BeEmpty())
		Expect(first.Revisions).To(HaveLen(1))
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		stuck := lines.until(ctx, "what it waits for", func(v dashboardView) bool {
			return v.Machines[0].State == "Applying" && strings.Contains(v.Machines[0].Waits, "Deployment openshift-cluster-api/alpha")
		})
		Expect(stuck.Machines[0].Deadline.To).To(Equal("Degraded"))
		Expect(stuck.Machines[0].Moves).NotTo(BeEmpty())
		free()
		last := lines.until(ctx, "the end of the upgrade", func(v dashboardView) bool {
			return v.Machines[0].State == "Installed" && slices.Contains(v.Revisions, dashboardRevision{Number: 2, Current: true})
		})
		Expect(last.Machines[0].History).NotTo(BeEmpty())

		By("telling what is asked for besides")
		var objects struct {
			Total int
			Items []struct {
				Object         string
				Revision, Wave int
			}
		}
		page.get(ctx, "/api/contexts/0/objects?search=deployment&revision=2", &objects)
		Expect(objects.Items).To(ContainElement(HaveField("Object", "Deployment openshift-cluster-api/alpha")))
		var history struct{ Revisions []struct{ Number int64 } }
		page.get(ctx, "/api/contexts/0/history", &history)
		Expect(history.Revisions).To(HaveLen(2))
		page.end()

		By("having asked for these few objects, with gets, lists and watches")
		asked, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		asked = asked.Where(func(r cluster.Request) bool { return r.User == "viewer" })
		Expect(asked).NotTo(BeEmpty())
		named := map[string]bool{}
		for _, r := range asked {
			Expect(r.Verb).To(BeElementOf("get", "list", "watch"), r.String())
			Expect(r.Unauthorized).To(BeFalse(), r.String())
			Expect(r.Resource).To(BeElementOf("clusterapis", "clusteroperators", "compatibilityrequirements", "configmaps"), r.String())
			named[r.Resource+"/"+r.Name] = true
		}
		Expect(len(named)).To(BeNumerically("<=", 6), "%v", named)
		Expect(len(asked)).To(BeNumerically("<=", 40), asked.String())
	})

	It("makes a plan, and changes nothing by it", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		release(ctx, newProvider("alpha").with(configMap("comes", "two")))
		since := mark(ctx)
		page := serve(ctx, admin(), withCache(nil)...)
		var made planned
		page.post(ctx, "/api/contexts/0/plan", &made)
		Expect(made.Counts).To(HaveKeyWithValue("create", BeNumerically(">=", 1)))
		Expect(made.To.Number).To(Equal(int64(2)))
		page.end()
		lookedOnly(ctx, since)
	})
})

// dashboardView is what a line of the stream tells.
type dashboardView struct {
	How, Release string
	Machines     []struct {
		Machine, State, Waits string
		Deadline              struct{ To string }
		History, Moves        []struct{ Event, To string }
	}
	Revisions []dashboardRevision
	Unread    []struct{ What, Why string }
}

type dashboardRevision struct {
	Number  int64
	Current bool
}

// dashboard is a process that serves the page, and a session with it.
type dashboard struct {
	process     *exec.Cmd
	host, token string
}

// serve starts a dashboard as a user, and begins a session as a browser does.
func serve(ctx context.Context, of command, args ...string) *dashboard {
	GinkgoHelper()
	d := &dashboard{process: of.command(append([]string{"dashboard"}, args...)...)}
	out, err := d.process.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	d.process.Stderr = GinkgoWriter
	Expect(d.process.Start()).To(Succeed())
	DeferCleanup(func() { _ = d.process.Process.Kill() })
	address, err := bufio.NewReader(out).ReadString('\n')
	Expect(err).NotTo(HaveOccurred())
	host, code, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(address), "http://"), "/#code=")
	Expect(found).To(BeTrue(), address)
	d.host = host
	var session struct{ Token string }
	d.into(d.request(ctx, http.MethodPost, "/api/session", `{"code":"`+code+`"}`), &session)
	d.token = session.Token
	return d
}

// end interrupts it, which is no error.
func (d *dashboard) end() {
	GinkgoHelper()
	Expect(d.process.Process.Signal(syscall.SIGINT)).To(Succeed())
	Expect(d.process.Wait()).To(Succeed())
}

// request is one of the session.
func (d *dashboard) request(ctx context.Context, method, path, body string) *http.Request {
	GinkgoHelper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+d.host+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Origin", "http://"+d.host)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Capstan-Token", d.token)
	return r
}

// answered is the answer to a request, whole.
func answered(r *http.Request) (code int, text []byte) {
	GinkgoHelper()
	response, err := http.DefaultClient.Do(r)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, text
}

func (d *dashboard) status(ctx context.Context, method, path string, change func(*http.Request)) int {
	GinkgoHelper()
	r := d.request(ctx, method, path, "")
	if change != nil {
		change(r)
	}
	code, _ := answered(r)
	return code
}

func (d *dashboard) into(r *http.Request, into any) {
	GinkgoHelper()
	code, text := answered(r)
	Expect(code).To(Equal(http.StatusOK), string(text))
	Expect(json.Unmarshal(text, into)).To(Succeed(), string(text))
}

func (d *dashboard) get(ctx context.Context, path string, into any) {
	GinkgoHelper()
	d.into(d.request(ctx, http.MethodGet, path, ""), into)
}

func (d *dashboard) post(ctx context.Context, path string, into any) {
	GinkgoHelper()
	d.into(d.request(ctx, http.MethodPost, path, "{}"), into)
}

// dashboardLines are those of a stream.
type dashboardLines struct{ views chan dashboardView }

func (d *dashboard) watch(ctx context.Context) *dashboardLines {
	GinkgoHelper()
	response, err := http.DefaultClient.Do(d.request(ctx, http.MethodGet, "/api/watch", "")) //nolint:bodyclose // who reads it closes it
	Expect(err).NotTo(HaveOccurred())
	Expect(response.StatusCode).To(Equal(http.StatusOK))
	l := &dashboardLines{views: make(chan dashboardView, 1000)}
	go func() {
		defer close(l.views)
		defer response.Body.Close() // when the dashboard ends
		text := bufio.NewScanner(response.Body)
		text.Buffer(nil, 8<<20)
		for text.Scan() {
			var line struct {
				Type string
				View dashboardView
			}
			if json.NewDecoder(bytes.NewReader(text.Bytes())).Decode(&line) == nil && line.Type == "view" {
				l.views <- line.View
			}
		}
	}()
	return l
}

// until reads lines until a view is as wanted.
func (l *dashboardLines) until(ctx context.Context, what string, wanted func(dashboardView) bool) dashboardView {
	GinkgoHelper()
	var last dashboardView
	eventually(ctx, what+" to be shown", func(ctx context.Context) error {
		for {
			select {
			case v, is := <-l.views:
				if !is {
					return fmt.Errorf("the stream has ended after %+v", last)
				}
				if last = v; wanted(v) {
					return nil
				}
			case <-ctx.Done():
				return fmt.Errorf("the last view is %+v", last)
			}
		}
	})
	return last
}
