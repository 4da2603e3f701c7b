package apiproxy

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

const (
	aLease  = "/apis/coordination.k8s.io/v1/namespaces/n/leases/l"
	aReview = "/apis/authentication.k8s.io/v1/tokenreviews"
	aRight  = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
)

// crowded is a proxy whose server answers only what crowds nobody: what has no query. The rest it tells of, and lets go at the end.
func crowded(t *testing.T) (proxy *Proxy, ask func(method, path string) (int, string), under <-chan string) {
	t.Helper()
	asked, end := make(chan string, 1000), make(chan struct{})
	proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			asked <- r.Method
			<-end
		}
		answers("application/json", "{}")(w, r)
	})
	var others sync.WaitGroup
	t.Cleanup(others.Wait)
	t.Cleanup(func() { close(end) })
	return proxy, func(method, path string) (int, string) {
		body := ""
		if method != http.MethodGet {
			body = "{}"
		}
		if !strings.Contains(path, "?") {
			response, got, err := sent{method, path, body, asJSON()}.to(t, shown)
			if err != nil {
				t.Error(err)
			}
			return response.code, got
		}
		request, err := http.NewRequestWithContext(t.Context(), method, shown.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = asJSON()
		others.Go(func() {
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return // the test is over
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		})
		return 0, ""
	}, asked
}

// One kind of request that is as many as there may be must not keep the others from the server.
func TestProxy_bounds_requests_under_way_by_kind(t *testing.T) {
	for name, row := range map[string]struct {
		method, path string
		count        int
		starved      [][2]string
		served       [][2]string
	}{
		"lists": {
			http.MethodGet, machines + "?limit=5", 64,
			[][2]string{{http.MethodGet, machines}, {http.MethodGet, "/version"}},
			[][2]string{{http.MethodPost, machines}, {http.MethodGet, aLease}, {http.MethodPut, aLease}, {http.MethodPost, aReview}, {http.MethodPost, aRight}},
		},
		"writes": {
			http.MethodPost, machines + "?dryRun=All", 64,
			[][2]string{{http.MethodPost, machines}, {http.MethodDelete, machines + "/m"}},
			[][2]string{{http.MethodGet, machines}, {http.MethodGet, aLease}, {http.MethodPut, aLease}, {http.MethodPost, aReview}, {http.MethodPost, aRight}},
		},
		"reviews": {
			http.MethodPost, aReview + "?dryRun=All", 16,
			[][2]string{{http.MethodPost, aRight}, {http.MethodGet, aLease}},
			[][2]string{{http.MethodGet, machines}, {http.MethodPost, machines}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, ask, under := crowded(t)
			for range row.count {
				ask(row.method, row.path)
			}
			for range row.count {
				<-under
			}
			proxy.allowances.wait = 50 * time.Millisecond
			for _, other := range row.starved {
				code, body := ask(other[0], other[1])
				if code != http.StatusTooManyRequests {
					t.Errorf("%s %s is answered %d", other[0], other[1], code)
				} else if status := statusIn(t, body); status.Reason != metav1.StatusReasonTooManyRequests || !strings.Contains(status.Message, "nothing was sent") || status.Details.RetryAfterSeconds == 0 {
					t.Errorf("%s", body)
				}
			}
			for _, other := range row.served {
				if code, body := ask(other[0], other[1]); code != http.StatusOK {
					t.Errorf("%s %s is answered %d %s", other[0], other[1], code, body)
				}
			}
		})
	}
}

// How long the server may be silent counts from when it is asked.
func TestProxy_does_not_take_waiting_for_its_turn_for_a_silence_of_the_server(t *testing.T) {
	first, let := make(chan struct{}), make(chan struct{})
	proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			close(first)
			answers("application/json", `{"items":[`)(w, r)
			_ = http.NewResponseController(w).Flush()
			<-let
			_, _ = io.WriteString(w, `]}`)
			return
		}
		answers("application/json", "{}")(w, r)
	})
	proxy.allowances.reads = newAllowance(1, 1)
	var others sync.WaitGroup
	others.Go(func() {
		_, _, _ = sent{http.MethodGet, machines + "?limit=5", "", nil}.to(t, shown)
	})
	<-first
	proxy.silence = time.Second // for who comes now
	time.AfterFunc(3*proxy.silence/2, func() { close(let) })
	response, body, err := sent{http.MethodGet, machines, "", nil}.to(t, shown)
	if err != nil || response.code != http.StatusOK {
		t.Errorf("%d %s, %v", response.code, body, err)
	}
	others.Wait()
}

// What comes slowly must not keep those waiting that would lose their lead, and neither must a list.
func TestAllowances_count_as_urgent_what_is_one_Lease_or_a_review_and_is_there_as_a_whole(t *testing.T) {
	held := func(r *http.Request) *http.Request {
		setBody(r, []byte("{}"))
		return r
	}
	for name, row := range map[string]struct {
		method, path string
		body         func(*http.Request) *http.Request
		want         string
	}{
		"a Lease":                       {http.MethodGet, aLease, nil, "requests for Leases and reviews"},
		"a Lease that is renewed":       {http.MethodPut, aLease, held, "requests for Leases and reviews"},
		"a review":                      {http.MethodPost, aReview, held, "requests for Leases and reviews"},
		"a Lease that comes slowly":     {http.MethodPut, aLease, nil, "writes"},
		"a review that comes slowly":    {http.MethodPost, aRight, nil, "writes"},
		"a list of Leases":              {http.MethodGet, "/apis/coordination.k8s.io/v1/leases", nil, "reads"},
		"the deletion of many Leases":   {http.MethodDelete, "/apis/coordination.k8s.io/v1/namespaces/n/leases", nil, "writes"},
		"another object that is let in": {http.MethodPost, machines, held, "writes"},
	} {
		var body io.Reader
		if row.method == http.MethodPut || row.method == http.MethodPost {
			body = struct{ io.Reader }{strings.NewReader("{}")}
		}
		r, err := http.NewRequestWithContext(t.Context(), row.method, "http://server"+row.path, body)
		if err != nil {
			t.Fatal(err)
		}
		if row.body != nil {
			r = row.body(r)
		}
		asked, err := rewrite.ParseRequest(r.Method, r.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := newAllowances().of(&exchange{request: asked}, r); is != row.want {
			t.Errorf("%s is one of the %s", name, is)
		}
	}
}
