package apiproxy

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestProxy_translates_a_request_and_its_answer(t *testing.T) {
	var got *http.Request
	var stored string
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, stored = r, string(body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "machines.`+private+` is old"`)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	})
	body := `{"apiVersion":"` + standard + `/v1beta2","kind":"Machine","metadata":{"name":"m","labels":{"apiVersion":"` + standard + `/v1beta2"}}}`
	response, seen, err := sent{http.MethodPost, machines + "?fieldManager=" + standard, body, asJSON()}.to(t, shown)
	if err != nil || seen != body || response.code != http.StatusCreated {
		t.Fatalf("the client sees %q, %v", seen, err)
	}
	if want := strings.Replace(body, standard, private, 1); stored != want || got.ContentLength != int64(len(want)) {
		t.Errorf("the server has %q of %d bytes", stored, got.ContentLength)
	}
	if got.URL.String() != strings.Replace(machines, standard, private, 1)+"?fieldManager="+standard {
		t.Errorf("the server is asked for %s", got.URL)
	}
	if warning := response.header.Get("Warning"); !strings.Contains(warning, "machines."+standard) || response.length != int64(len(body)) {
		t.Errorf("the client is warned %q, and told of %d bytes", warning, response.length)
	}
}

func TestProxy_asks_as_the_pod_and_drops_what_claims_an_identity(t *testing.T) {
	var got http.Header
	_, shown := front(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	claims := []string{"X-Remote-User", "X-Remote-Extra-Scopes", "X-Forwarded-For", "X-Forwarded-Uri", "X-Real-Ip", "Forwarded", "Proxy-Authorization"}
	header := http.Header{"Authorization": {"Bearer stolen"}, "Impersonate-User": {"somebody"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"manager/1"}}
	for _, name := range claims {
		header.Set(name, "root")
	}
	if _, _, err := (sent{http.MethodGet, machines, "", header}).to(t, shown); err != nil {
		t.Fatal(err)
	}
	for _, name := range claims {
		if got.Get(name) != "" {
			t.Errorf("%s is passed on", name)
		}
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer the-pods-own", "Impersonate-User": "somebody", "Accept-Encoding": "identity", "User-Agent": "manager/1",
	} {
		if got.Get(name) != want {
			t.Errorf("%s is %q, not %q", name, got.Get(name), want)
		}
	}
}

// What goes no further: the server sees none of it.
func TestProxy_refuses(t *testing.T) {
	_, shown := front(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the server is asked for %s", r.URL) })
	for name, row := range map[string]struct {
		sent   sent
		code   int
		reason metav1.StatusReason
		says   string
	}{
		"a host that is not loopback":        {sent{http.MethodGet, machines, "", http.Header{"Host": {"evil.example:80"}}}, 403, metav1.StatusReasonForbidden, "loopback"},
		"a host that only begins like one":   {sent{http.MethodGet, machines, "", http.Header{"Host": {"localhost.evil.example"}}}, 403, metav1.StatusReasonForbidden, "loopback"},
		"a header that Connection names":     {sent{http.MethodGet, machines, "", http.Header{"Connection": {"Authorization"}}}, 400, metav1.StatusReasonBadRequest, "Connection"},
		"the platform's own group by path":   {sent{http.MethodGet, strings.Replace(machines, standard, private, 1), "", nil}, 404, metav1.StatusReasonNotFound, standard},
		"the platform's own group by object": {sent{http.MethodPost, machines, `{"apiVersion":"` + private + `/v1beta2","kind":"Machine"}`, asJSON()}, 400, metav1.StatusReasonBadRequest, standard},
		"a path that means two things":       {sent{http.MethodGet, "/apis/" + standard + "%2fv1beta2/machines", "", nil}, 400, metav1.StatusReasonBadRequest, "path"},
		"a query that means two things":      {sent{http.MethodGet, machines + "?watch=1;a=b", "", nil}, 400, metav1.StatusReasonBadRequest, "query"},
		"a malformed body":                   {sent{http.MethodPost, machines, `{"apiVersion":"` + standard, asJSON()}, 400, metav1.StatusReasonBadRequest, ""},
		"a malformed body after an object":   {sent{http.MethodPost, machines, `{} x`, asJSON()}, 400, metav1.StatusReasonBadRequest, ""},
		"a body that is too deep":            {sent{http.MethodPost, machines, strings.Repeat(`{"a":`, 2000), asJSON()}, 400, metav1.StatusReasonBadRequest, ""},
		"CBOR":                               {sent{http.MethodPost, machines, "\xa0", http.Header{"Content-Type": {"application/cbor"}}}, 415, metav1.StatusReasonUnsupportedMediaType, ""},
		"a compressed body":                  {sent{http.MethodPost, machines, "x", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}}, 415, metav1.StatusReasonUnsupportedMediaType, "gzip"},
		"YAML with a key twice":              {sent{http.MethodPatch, machines + "/m?fieldManager=a", "a: 1\na: 2\n", http.Header{"Content-Type": {"application/apply-patch+yaml"}}}, 400, metav1.StatusReasonBadRequest, ""},
		"protobuf that is none":              {sent{http.MethodPost, "/api/v1/namespaces/n/secrets", "x", http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf"}}}, 400, metav1.StatusReasonBadRequest, "protobuf"},
		"a watch by WebSocket": {sent{http.MethodGet, machines + "?watch=1", "", http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
		}}, 406, metav1.StatusReasonNotAcceptable, "WebSocket"},
		"an answer in CBOR only": {sent{http.MethodGet, machines, "", http.Header{"Accept": {"application/cbor"}}}, 406, metav1.StatusReasonNotAcceptable, ""},
		"tags of other rules":    {sent{http.MethodGet, "/openapi/v2", "", http.Header{"If-Match": {`"old"`}}}, 412, metav1.StatusReasonUnknown, "If-Match"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body, err := row.sent.to(t, shown)
			if err != nil {
				t.Fatal(err)
			}
			status := statusIn(t, body)
			if response.code != row.code || status.Reason != row.reason || !strings.Contains(status.Message, row.says) || int(status.Code) != row.code {
				t.Errorf("%d: %+v", response.code, status)
			}
		})
	}
}

func TestProxy_has_no_more_of_all_bodies_than_there_is_room_for(t *testing.T) {
	proxy, shown := front(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	proxy.room = newBudget(heldStep)
	header := http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf"}}
	response, body, err := sent{http.MethodPost, "/api/v1/namespaces/n/secrets", strings.Repeat("x", 4*heldStep), header}.to(t, shown)
	if err != nil || response.code != http.StatusTooManyRequests || response.header.Get("Retry-After") == "" || statusIn(t, body).Reason != metav1.StatusReasonTooManyRequests {
		t.Fatalf("%v %s %v", response, body, err)
	}
	if release, err := proxy.room.hold(heldStep); err != nil {
		t.Error("what was refused is still held")
	} else {
		release()
	}
}

func TestProxy_answers_for_a_server_that(t *testing.T) {
	for name, row := range map[string]struct {
		method string
		server http.HandlerFunc
		says   string
	}{
		"answers with half an object": {http.MethodGet, answers("application/json", `{"apiVersion":"`+private), "cannot be translated"},
		"answers in a form that is not known, after it acted": {
			http.MethodPost, answers("application/cbor", "\xa0"), "may have been acted upon",
		},
		"compresses what it was not asked to": {http.MethodGet, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			answers("application/json", "{}")(w, nil)
		}, "encoding"},
		"hangs up after it acted":          {http.MethodPost, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "may have been acted upon"},
		"answers in protobuf that is none": {http.MethodGet, answers("application/vnd.kubernetes.protobuf", "k8s\x00\xff"), "cannot be translated"},
	} {
		t.Run(name, func(t *testing.T) {
			_, shown := front(t, row.server)
			header := http.Header{}
			body := ""
			if row.method == http.MethodPost {
				header, body = asJSON(), "{}"
			}
			response, got, err := sent{row.method, machines, body, header}.to(t, shown)
			if err != nil {
				t.Fatal(err)
			}
			status := statusIn(t, got)
			if response.code != http.StatusBadGateway || status.Reason != reasonUpstream || !strings.Contains(status.Message, row.says) {
				t.Errorf("%d: %+v", response.code, status)
			}
			if strings.Contains(status.Message, "nothing was") {
				t.Errorf("it says that nothing happened: %s", status.Message)
			}
		})
	}
}

func answers(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

func TestProxy_says_that_a_server_cannot_be_reached(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, shown := frontOf(t, &rest.Config{Host: gone.URL})
	response, body, err := sent{http.MethodGet, machines, "", nil}.to(t, shown)
	if err != nil || response.code != http.StatusBadGateway || !strings.Contains(statusIn(t, body).Message, "nothing was sent") {
		t.Fatalf("%v %s %v", response, body, err)
	}
}

func TestProxy_waits_for_the_first_byte_only_so_long(t *testing.T) {
	var reached atomic.Bool
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	proxy, shown := front(t, func(_ http.ResponseWriter, r *http.Request) {
		reached.Store(true)
		<-r.Context().Done()
		end()
	})
	proxy.silence = 20 * time.Millisecond
	for !reached.Load() { // a busy machine may not even have dialled by then
		response, body, err := sent{http.MethodGet, machines + "/m", "", nil}.to(t, shown)
		if err != nil || response.code != http.StatusGatewayTimeout || statusIn(t, body).Reason != reasonUpstream {
			t.Fatalf("%v %s %v", response, body, err)
		}
	}
	<-ended
}

// A stream that breaks must not look whole, wherever it breaks.
func TestProxy_breaks_a_stream_where_the_server_breaks_it(t *testing.T) {
	long := `{"kind":"MachineList","items":[` + strings.Repeat(`{"apiVersion":"`+private+`/v1beta2"},`, 5000)
	for name, server := range map[string]http.HandlerFunc{
		"a list that breaks off": func(w http.ResponseWriter, _ *http.Request) {
			answers("application/json", long)(w, nil)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"a list that ends in the middle":  answers("application/json", long),
		"a list that goes wrong":          answers("application/json", long+`}`+strings.Repeat(" ", 40000)),
		"a list with something behind it": answers("application/json", strings.TrimSuffix(long, ",")+"]} x"),
		"a watch that breaks off": func(w http.ResponseWriter, _ *http.Request) {
			answers("application/json", `{"type":"ADDED","object":{}}`+"\n"+`{"type":"ADD`)(w, nil)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"a watch that ends in the middle": answers("application/json", `{"type":"ADDED","object":{}}`+"\n"+`{"type":"ADD`),
		"frames that end in the middle":   answers("application/vnd.kubernetes.protobuf;stream=watch", "\x00\x00\x00\x00\x00\x00\x00\x09x"),
	} {
		t.Run(name, func(t *testing.T) {
			_, shown := front(t, server)
			path := machines
			if !strings.Contains(name, "list") {
				path += "?watch=1"
			}
			if _, body, err := (sent{http.MethodGet, path, "", nil}).to(t, shown); err == nil {
				t.Errorf("the client takes %d bytes for whole", len(body))
			}
		})
	}
}

func TestProxy_passes_each_event_on_at_once(t *testing.T) {
	next := make(chan string)
	_, shown := front(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for event := range next {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shown.URL+machines+"?watch=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if !response.Close {
		t.Error("the client is to ask for more on the connection of a watch")
	}
	for range 10 {
		next <- `{"type":"ADDED","object":{"apiVersion":"` + private + `/v1beta2"}}` + "\n"
		want := `{"type":"ADDED","object":{"apiVersion":"` + standard + `/v1beta2"}}` + "\n"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v", got, err)
		}
	}
	close(next)
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
		t.Errorf("a watch that ends: %q, %v", rest, err)
	}
}

func TestProxy_ends_upstream_when_the_client_is_gone(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
		close(ended)
	})
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, shown.URL+machines+"?watch=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	leave()
	<-ended
	_ = response.Body.Close()
}

func TestProxy_breaks_off_a_long_body_that_goes_wrong(t *testing.T) {
	whole := make(chan error, 1)
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		whole <- err
		answers("application/json", "{}")(w, nil)
	})
	body := `{"apiVersion":"` + standard + `/v1beta2","spec":[` + strings.Repeat(`"x",`, 100_000) + `}`
	response, got, err := sent{http.MethodPost, machines, body, asJSON()}.to(t, shown)
	if err != nil || response.code != http.StatusBadRequest || statusIn(t, got).Reason != metav1.StatusReasonBadRequest {
		t.Fatalf("%v %s %v", response, got, err)
	}
	if err := <-whole; err == nil {
		t.Error("the server takes the body for whole")
	}
}

func TestProxy_gives_discovery_in_protobuf_to_who_accepts_nothing_else(t *testing.T) {
	var accepted string
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		accepted = r.Header.Get("Accept")
		answers("application/json", `{"kind":"APIGroup","apiVersion":"v1","name":"`+private+`","versions":[{"groupVersion":"`+private+`/v1","version":"v1"}]}`)(w, nil)
	})
	header := http.Header{"Accept": {"application/vnd.kubernetes.protobuf"}}
	response, body, err := sent{http.MethodGet, "/apis/" + standard, "", header}.to(t, shown)
	if err != nil || accepted != "application/json" || response.header.Get("Content-Type") != "application/vnd.kubernetes.protobuf" {
		t.Fatalf("%v %q %v", response, accepted, err)
	}
	if !strings.HasPrefix(body, "k8s\x00") || !strings.Contains(body, standard+"/v1") || strings.Contains(body, private) {
		t.Errorf("%q", body)
	}
}

func TestProxy_tells_documents_of_other_rules_apart(t *testing.T) {
	var asked []string
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-None-Match"))
		w.Header().Set("ETag", `"tag"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		if r.Header.Get("If-None-Match") == `"tag"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		answers("application/json", `{"paths":{}}`)(w, nil)
	})
	response, _, err := sent{http.MethodGet, "/openapi/v2", "", http.Header{"If-None-Match": {`"tag"`}}}.to(t, shown)
	if err != nil || response.code != http.StatusOK || response.header.Get("Last-Modified") != "" {
		t.Fatalf("%v %v", response, err)
	}
	tag := response.header.Get("ETag")
	response, _, err = sent{http.MethodGet, "/openapi/v2", "", http.Header{"If-None-Match": {tag}}}.to(t, shown)
	if err != nil || response.code != http.StatusNotModified || response.header.Get("ETag") != tag || asked[0] != "" || asked[1] != `"tag"` {
		t.Fatalf("%v %q %v", response, asked, err)
	}
}

func TestProxy_tells_where_documents_are(t *testing.T) {
	_, shown := front(t, answers("text/plain; charset=utf-8", `{"paths":{"apis/`+private+`/v1beta2":{"serverRelativeURL":"/openapi/v3/apis/`+private+`/v1beta2?hash=AB"},`+
		`"apis/`+standard+`/v9":{"serverRelativeURL":"/openapi/v3/apis/`+standard+`/v9?hash=CD"}}}`))
	_, body, err := sent{http.MethodGet, "/openapi/v3", "", nil}.to(t, shown)
	if err != nil || !strings.Contains(body, `"/openapi/v3/apis/`+standard+`/v1beta2?hash=AB-`) || strings.Contains(body, "v9") {
		t.Fatalf("%s, %v", body, err)
	}
}

func TestProxy_leads_to_where_the_server_leads(t *testing.T) {
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		http.Redirect(w, r, "/openapi/v3/apis/"+private+"/v1beta2?hash=AB", http.StatusMovedPermanently)
	})
	answered, body, err := sent{http.MethodGet, "/openapi/v3/apis/" + standard + "/v1beta2?hash=OLD", "", nil}.to(t, shown)
	if err != nil || answered.code != http.StatusMovedPermanently || body != "" || !strings.HasPrefix(answered.header.Get("Location"), "/openapi/v3/apis/"+standard+"/v1beta2?hash=AB-") {
		t.Fatalf("%v %q, %v", answered, body, err)
	}
}
