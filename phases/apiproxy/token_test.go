package apiproxy

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// protected is a proxy that has written its kubeconfig, before a server that answers as it is told.
func protected(t *testing.T, file string, server http.HandlerFunc) *Server {
	t.Helper()
	proxy, _ := front(t, server)
	made, err := Listen(t.Context(), proxy, prometheus.NewRegistry(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.api.Close() })
	if err := made.Protect(file); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestServer_that_is_protected_refuses_who_has_no_token_and_asks_the_server_nothing(t *testing.T) {
	proxy, shown := front(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the server is asked for %s", r.URL) })
	proxy.token = "the-token"
	basic := func(user, password string) http.Header {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return r.Header
	}
	for name, header := range map[string]http.Header{
		"nothing": {}, "another bearer": {"Authorization": {"Bearer the-tokem"}}, "its beginning": {"Authorization": {"Bearer the-toke"}},
		"more than it": {"Authorization": {"Bearer the-tokenx"}}, "an empty bearer": {"Authorization": {"Bearer "}}, "no scheme": {"Authorization": {"the-token"}},
		"another password": basic(username, "x"), "it as the username": basic("the-token", ""), "what is no header of this kind": {"Authorization": {"Basic !"}},
		"it in another header": {"Proxy-Authorization": {"Bearer the-token"}},
		"it by a WebSocket": {
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
			"Sec-Websocket-Protocol": {bearerProtocol + "dGhlLXRva2Vu"},
		},
	} {
		for _, path := range []string{machines, "/api/v1/namespaces/n/pods/p/exec?command=sh", "/version", "/nonsense%2f"} {
			response, body, err := sent{http.MethodGet, path, "", header}.to(t, shown)
			if err != nil {
				t.Fatal(err)
			}
			if status := statusIn(t, body); response.code != http.StatusUnauthorized || status.Reason != metav1.StatusReasonUnauthorized || !strings.Contains(status.Message, "kubeconfig") {
				t.Errorf("%s asks for %s and is answered %d: %+v", name, path, response.code, status)
			}
		}
	}
}

func TestServer_that_is_protected_answers_who_has_the_token_as_the_Pod(t *testing.T) {
	var got string
	proxy, shown := front(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") })
	proxy.token = "the-token"
	for _, header := range []http.Header{{"Authorization": {"Bearer the-token"}}, {"Authorization": {"Basic cG9kOnRoZS10b2tlbg=="}}} {
		response, body, err := sent{http.MethodGet, machines, "", header}.to(t, shown)
		if err != nil || response.code != http.StatusOK || got != "Bearer the-pods-own" {
			t.Errorf("%d %s %v; the server is asked with %q", response.code, body, err, got)
		}
	}
}

// What client-go makes of the file is what counts: it drops much of what a kubeconfig can say.
func TestServer_Protect_writes_a_kubeconfig_that_client_go_gets_in_with(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	server := protected(t, file, answers("application/json", `{}`))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Get().AbsPath(machines).Do(t.Context()).Error(); err != nil {
		t.Error(err)
	}
	if code, _ := get(t, "http://"+server.Address()+machines); code != http.StatusUnauthorized {
		t.Errorf("somebody else is answered %d", code)
	}
}

func TestServer_Protect_keeps_a_token_that_clients_may_have_read(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	first := protected(t, file, http.NotFound)
	again := protected(t, file, http.NotFound)
	if first.proxy.token != again.proxy.token || len(again.proxy.token) < 26 {
		t.Errorf("first %q, then %q", first.proxy.token, again.proxy.token)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), again.proxy.token+"@"+again.Address()) {
		t.Errorf("it does not lead to %s: %s %v", again.Address(), text, err)
	}
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", about, err)
	}
}

func TestServer_Protect_takes_another_token_where_it_cannot_read_one(t *testing.T) {
	const beginning = "apiVersion: v1\nkind: Config\nclusters:\n- name: "
	for name, text := range map[string]string{
		"nothing": "", "what is no kubeconfig": "}", "no cluster": "apiVersion: v1\nkind: Config\n", "another cluster": beginning + "a\n  cluster: {server: 'http://a:b@c'}\n",
		"no token": beginning + "proxy\n  cluster: {server: 'http://c'}\n", "no address": beginning + "proxy\n  cluster: {server: ':'}\n",
		"one that can be guessed": beginning + "proxy\n  cluster: {server: 'http://pod:1234@c'}\n",
	} {
		file := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		made := protected(t, file, http.NotFound)
		if written, err := os.ReadFile(file); err != nil || len(made.proxy.token) < 26 || tokenIn(written) != made.proxy.token {
			t.Errorf("%s: the token is %q, and the file %q", name, made.proxy.token, written)
		}
	}
}

func TestServer_Protect_names_a_file_that_cannot_be_written(t *testing.T) {
	proxy, _ := front(t, http.NotFound)
	file := filepath.Join(t.TempDir(), "none", "kubeconfig")
	if err := (&Server{proxy: proxy, api: protected(t, filepath.Join(t.TempDir(), "k"), http.NotFound).api}).Protect(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}
