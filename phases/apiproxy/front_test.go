package apiproxy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	standard = "cluster.x-k8s.io"
	private  = "cluster.hypershift.openshift.io"
	machines = "/apis/" + standard + "/v1beta2/namespaces/n/machines"
)

// front is a proxy in front of a server that answers as it is told.
func front(t *testing.T, server http.HandlerFunc) (*Proxy, *httptest.Server) {
	t.Helper()
	behind := httptest.NewServer(server)
	t.Cleanup(behind.Close)
	return frontOf(t, &rest.Config{Host: behind.URL, BearerToken: "the-pods-own"})
}

func frontOf(t *testing.T, config *rest.Config) (*Proxy, *httptest.Server) {
	t.Helper()
	proxy, err := New(config, prometheus.NewRegistry(), logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	shown := httptest.NewUnstartedServer(proxy)
	asServed(shown, proxy)
	shown.Start()
	t.Cleanup(shown.Close)
	return proxy, shown
}

// asServed has a server of a test serve the API as the process does.
func asServed(server *httptest.Server, proxy *Proxy) {
	server.Listener = gatheringListener{unhurried{server.Listener, proxy.strangers}}
	server.Config = (&Server{proxy: proxy}).apiServer()
}

type sent struct {
	method, path, body string
	header             http.Header
}

// reply is an answer, read to its end.
type reply struct {
	code   int
	header http.Header
	length int64
}

func (s sent) to(t *testing.T, front *httptest.Server) (reply, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), s.method, front.URL+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range s.header {
		request.Header[name] = values
	}
	if host := s.header.Get("Host"); host != "" {
		request.Host = host
		request.Header.Del("Host")
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	response, err := client.Do(request)
	if err != nil {
		return reply{}, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, response.ContentLength}, string(body), err
}

func asJSON() http.Header { return http.Header{"Content-Type": {"application/json"}} }

func statusIn(t *testing.T, body string) metav1.Status {
	t.Helper()
	var status metav1.Status
	if err := json.Unmarshal([]byte(body), &status); err != nil || status.Kind != "Status" {
		t.Fatalf("%q is no Status: %v", body, err)
	}
	return status
}
