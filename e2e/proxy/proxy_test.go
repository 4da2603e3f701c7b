package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// backend counts what reaches it and answers with the method; watches get a
// line for everything sent to events.
type backend struct {
	*httptest.Server
	hits   atomic.Int64
	list   atomic.Value
	events chan string
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func start(t *testing.T) (*Proxy, *backend) {
	b := &backend{events: make(chan string, 10)}
	b.list.Store("the list")
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.hits.Add(1)
		switch requestOf(r).Verb {
		case "watch":
			w.WriteHeader(http.StatusOK)
			for {
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case event := <-b.events:
					fmt.Fprintln(w, event)
				}
			}
		case "list":
			fmt.Fprint(w, b.list.Load())
		default:
			fmt.Fprint(w, strings.Repeat(r.Method, 100))
		}
	}))
	p, err := Start(&rest.Config{Host: b.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		b.CloseClientConnections()
		b.Close()
	})
	return p, b
}

// send makes a request on a connection of its own, so that nothing is retried.
func send(ctx context.Context, p *Proxy, method, path string) (int, string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, method, p.URL()+path, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func TestARequestIsUnderstoodByItsMethodAndAddress(t *testing.T) {
	for line, want := range map[string]Request{
		"GET /api/v1/namespaces":                                       {Verb: "list", Resource: "namespaces"},
		"GET /api/v1/namespaces/a":                                     {Verb: "get", Resource: "namespaces", Name: "a"},
		"PUT /api/v1/namespaces/a/status":                              {Verb: "update", Resource: "namespaces", Name: "a", Subresource: "status"},
		"POST /api/v1/namespaces/a/configmaps":                         {Verb: "create", Resource: "configmaps", Namespace: "a"},
		"PATCH /apis/apps/v1/namespaces/a/deployments/b?dryRun=All":    {Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "b", DryRun: true},
		"DELETE /apis/apps/v1/namespaces/a/deployments":                {Verb: "deletecollection", Group: "apps", Resource: "deployments", Namespace: "a"},
		"DELETE /apis/apps/v1/namespaces/a/deployments/b":              {Verb: "delete", Group: "apps", Resource: "deployments", Namespace: "a", Name: "b"},
		"GET /api/v1/configmaps?watch=true&sendInitialEvents=true":     {Verb: "watch", Resource: "configmaps", Initial: true},
		"GET /apis/config.openshift.io/v1/clusteroperators/x?watch=1":  {Verb: "watch", Group: "config.openshift.io", Resource: "clusteroperators", Name: "x"},
		"PATCH /apis/config.openshift.io/v1/clusteroperators/x/status": {Verb: "patch", Group: "config.openshift.io", Resource: "clusteroperators", Name: "x", Subresource: "status"},
		"GET /apis":    {Verb: "list"},
		"GET /version": {Verb: "list"},
	} {
		method, address, _ := strings.Cut(line, " ")
		if got := requestOf(httptest.NewRequest(method, address, http.NoBody)); got != want {
			t.Errorf("%s is understood as %+v, want %+v", line, got, want)
		}
	}
}

func TestAFaultMeetsWhatItsRuleMatchesAsOftenAsItSays(t *testing.T) {
	p, b := start(t)
	rule := p.Add(Rule{Verb: "patch", Resource: "configmaps", Name: "a", Count: 2, Fault: Answer(http.StatusConflict, 0)})
	for i, want := range []int{200, 409, 409, 200} {
		method := http.MethodPatch
		if i == 0 {
			method = http.MethodGet
		}
		status, _, err := send(t.Context(), p, method, configMaps+"/a")
		if err != nil || status != want {
			t.Errorf("request %d is answered with %d (%v), want %d", i, status, err, want)
		}
	}
	if rule.Hits() != 2 || b.hits.Load() != 2 {
		t.Errorf("the fault met %d requests and %d reached the server, want 2 and 2", rule.Hits(), b.hits.Load())
	}
	p.Add(Rule{Verb: "write", Probability: 0.5, Fault: Answer(http.StatusServiceUnavailable, 0)})
	met := 0
	for range 100 {
		if status, _, _ := send(t.Context(), p, http.MethodDelete, configMaps+"/a"); status == http.StatusServiceUnavailable {
			met++
		}
	}
	if met < 20 || met > 80 {
		t.Errorf("of 100 requests %d met a fault that is to meet every other one", met)
	}
	if status, _, _ := send(t.Context(), p, http.MethodDelete, configMaps+"/a?dryRun=All"); status != 200 {
		t.Errorf("a dry run is taken for a write")
	}
	p.Clear()
	if status, _, _ := send(t.Context(), p, http.MethodPatch, configMaps+"/a"); status != 200 {
		t.Errorf("a rule goes on after Clear")
	}
}

func TestFaultsDoToARequestWhatTheirNamesSay(t *testing.T) {
	for name, c := range map[string]struct {
		fault   Fault
		arrives bool // the request reaches the server
		answer  func(status int, body string, err error) error
	}{
		"too many requests": {Answer(http.StatusTooManyRequests, 7), false, func(status int, body string, err error) error {
			if status != 429 || !strings.Contains(body, `"retryAfterSeconds":7`) || !strings.Contains(body, `"reason":"TooManyRequests"`) {
				return fmt.Errorf("is answered with %d %s (%w)", status, body, err)
			}
			return nil
		}},
		"reset before": {ResetBefore, false, isReset},
		"reset after":  {ResetAfter, true, isReset},
		"truncated": {Truncate, true, func(status int, body string, err error) error {
			if status != 200 || len(body) != 250 || err == nil {
				return fmt.Errorf("is answered with %d, %d bytes and error %w", status, len(body), err)
			}
			return nil
		}},
		"slow": {Slow(50 * time.Millisecond), true, func(_ int, body string, err error) error {
			if len(body) != 500 {
				return fmt.Errorf("is answered with %q (%w)", body, err)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, b := start(t)
			p.Add(Rule{Fault: c.fault})
			began := time.Now()
			status, body, err := send(t.Context(), p, http.MethodPatch, configMaps+"/a")
			if problem := c.answer(status, body, err); problem != nil {
				t.Error(problem)
			}
			if arrived := b.hits.Load() == 1; arrived != c.arrives {
				t.Errorf("it reached the server: %v, want %v", arrived, c.arrives)
			}
			if took := time.Since(began); name == "slow" && took < 50*time.Millisecond {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func isReset(_ int, _ string, err error) error {
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the connection is not reset: %w", err)
	}
	return nil
}

func TestARequestThatHangsIsReleasedByTheEndOfTheRule(t *testing.T) {
	p, b := start(t)
	rule := p.Add(Rule{Fault: Hang})
	answered := make(chan error)
	go func() {
		_, _, err := send(t.Context(), p, http.MethodPatch, configMaps+"/a")
		answered <- err
	}()
	for rule.Hits() == 0 {
		runtime.Gosched()
	}
	select {
	case err := <-answered:
		t.Errorf("it is answered: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	rule.End()
	if err := <-answered; err == nil || b.hits.Load() != 0 {
		t.Errorf("it ends with %v, and %d requests reached the server", err, b.hits.Load())
	}
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p.Add(Rule{Fault: Hang})
	if _, _, err := send(impatient, p, http.MethodPatch, configMaps+"/a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that gives up gets %v", err)
	}
}

// follow watches through the proxy; the lines it reads and then its error arrive on channels.
func follow(t *testing.T, p *Proxy) (lines chan string, ended chan error) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+configMaps+"?watch=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request) //nolint:bodyclose // It is, when the watch is over.
	if err != nil {
		t.Fatal(err)
	}
	lines, ended = make(chan string), make(chan error, 1)
	go func() {
		defer response.Body.Close()
		scanner := bufio.NewScanner(response.Body)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		ended <- scanner.Err()
	}()
	return lines, ended
}

func TestAWatchCanBeCutAndComeLate(t *testing.T) {
	p, b := start(t)
	lines, ended := follow(t, p)
	b.events <- "one"
	if line := <-lines; line != "one" {
		t.Errorf("the watch tells %q", line)
	}
	if p.CutWatches("secrets") != 0 || p.Watches() != 1 {
		t.Error("a watch of another resource is cut")
	}
	if p.CutWatches("configmaps") != 1 || p.Watches() != 0 {
		t.Error("the watch is not cut")
	}
	if err := <-ended; err == nil {
		t.Error("a watch that is cut ends as if it were over")
	}
	late := p.Add(Rule{Verb: "watch", Fault: Late(time.Hour)})
	lines, _ = follow(t, p)
	b.events <- "two"
	select {
	case line := <-lines:
		t.Errorf("a late event arrives at once: %q", line)
	case <-time.After(50 * time.Millisecond):
	}
	late.End()
	if line := <-lines; line != "two" {
		t.Errorf("the watch tells %q", line)
	}
}

func TestAWatchCanBreakInTheMiddleOfAnEvent(t *testing.T) {
	p, b := start(t)
	p.Add(Rule{Verb: "watch", Fault: Truncate})
	b.events <- "an event"
	lines, ended := follow(t, p)
	if line := <-lines; line != "an e" {
		t.Errorf("the watch tells %q", line)
	}
	if err := <-ended; err == nil {
		t.Error("a watch that breaks ends as if it were over")
	}
}

func TestAWatchWhoseAnswerIsLostBreaksAtOnce(t *testing.T) {
	p, b := start(t)
	p.Add(Rule{Verb: "watch", Fault: ResetAfter})
	_, _, err := send(t.Context(), p, http.MethodGet, configMaps+"?watch=true&sendInitialEvents=true&timeoutSeconds=402")
	if problem := isReset(0, "", err); problem != nil {
		t.Error(problem)
	}
	if b.hits.Load() != 1 {
		t.Error("the watch has not reached the server")
	}
}

func TestAWatchCanBeSwallowedUntilTheEndOfTheRule(t *testing.T) {
	p, b := start(t)
	rule := p.Add(Rule{Verb: "watch", Fault: Swallow})
	b.events <- "an event"
	lines, ended := follow(t, p) // it is answered
	select {
	case line := <-lines:
		t.Errorf("the watch tells %q", line)
	case err := <-ended:
		t.Errorf("the watch ends: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	rule.End()
	if err := <-ended; err == nil {
		t.Error("the watch ends as if it were over")
	}
}

func TestAStaleListIsWhatTheServerHadBefore(t *testing.T) {
	p, b := start(t)
	follow(t, p)
	stale, err := p.Stale(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.list.Store("another list")
	rule := p.Add(Rule{Fault: stale})
	if _, body, err := send(t.Context(), p, http.MethodGet, configMaps); body != "the list" {
		t.Errorf("the list is %q (%v)", body, err)
	}
	if status, _, _ := send(t.Context(), p, http.MethodGet, configMaps+"?watch=true&sendInitialEvents=true"); status != http.StatusUnprocessableEntity {
		t.Errorf("a list that is streamed is answered with %d", status)
	}
	rule.End()
	if _, body, err := send(t.Context(), p, http.MethodGet, configMaps); body != "another list" {
		t.Errorf("the list is %q (%v)", body, err)
	}
}
