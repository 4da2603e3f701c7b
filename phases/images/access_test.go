package images

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

func pullSecret(from string, passwords map[string]string) Document {
	var entries []string
	for key, password := range passwords {
		entries = append(entries, fmt.Sprintf(`%q:{"auth":%q}`, key, base64.StdEncoding.EncodeToString([]byte("capstan:"+password))))
	}
	return Document{From: from, Data: []byte(`{"auths":{` + strings.Join(entries, ",") + `}}`)}
}

// guard lets in only who has the password.
func (r *testRegistry) guard(password string) {
	fault := func(w http.ResponseWriter, q *http.Request) bool {
		if user, given, _ := q.BasicAuth(); user == "capstan" && given == password {
			return false
		}
		w.Header().Set("WWW-Authenticate", "Basic realm=test")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	r.fault.Store(&fault)
}

func TestPuller_uses_new_credentials_at_once(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	for len(r.agents) > 0 {
		<-r.agents
	}
	r.guard("right")
	p := runPuller(t, Options{})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "401", "no pull secret has an entry for it")
	if err.Kind != KindUnauthorized {
		t.Errorf("the kind is %s: %v", err.Kind, err)
	}

	p.use(Access{Credentials: []Document{pullSecret("Secret a/b", map[string]string{r.host: "wrong"})}})
	s := p.await(ref, "a refusal of the password", func(s State) bool { return s.Phase == Failed && s.attempts == 2 })
	if strings.Contains(s.Err.Error(), "without credentials") || strings.Contains(s.Err.Error(), "wrong") {
		t.Errorf("the message is %v", s.Err)
	}
	contains(t, s.Err, "it was asked with those of Secret a/b")
	// No step of the clock: what changed is tried at once.
	p.use(Access{Credentials: []Document{pullSecret("Secret a/b", map[string]string{r.host: "right"})}})
	p.recovered(ref)
	for len(r.agents) > 0 {
		if agent := <-r.agents; agent != "capstan" {
			t.Errorf("a request was sent as %q", agent)
		}
	}
}

func TestPuller_tries_again_at_once_when_access_changes_during_an_attempt(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	began, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fault := func(w http.ResponseWriter, q *http.Request) bool {
		if _, password, _ := q.BasicAuth(); password == "right" {
			return false
		}
		once.Do(func() { close(began) })
		<-end
		w.Header().Set("WWW-Authenticate", "Basic realm=test")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	r.fault.Store(&fault)
	p := runPuller(t, Options{})
	p.Want([]Ref{ref})
	<-began
	p.use(Access{Credentials: []Document{pullSecret("Secret a/b", map[string]string{r.host: "right"})}})
	close(end)
	p.recovered(ref)
}

func TestPuller_asks_for_nothing_when_access_stays_the_same(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.breaks("/manifests/", answers(http.StatusNotFound, ""))
	p := runPuller(t, Options{})
	same := func() Access {
		return Access{
			Credentials: []Document{pullSecret("Secret a/b", map[string]string{r.host: "any"})},
			Mirrors:     []Mirrors{{Source: "quay.io", Mirrors: []string{"mirror.test"}}},
		}
	}
	p.use(same())
	p.Want([]Ref{ref})
	_, _ = p.failed(ref)
	before := r.requests.Load()
	p.use(same())
	if s := p.State(ref); s.attempts != 1 || r.requests.Load() != before {
		t.Errorf("it was tried again: %+v", s)
	}
}

func TestCredentials_the_most_specific_entry_counts(t *testing.T) {
	found, problems := parseCredentials([]Document{
		pullSecret("one", map[string]string{
			"quay.io": "host", "quay.io/openshift": "folder", "https://quay.io/openshift/release/": "repository",
			"docker.io": "hub", "*.example.com": "wild", "exact.example.com": "exact", "registry.test:5000": "port",
			"https://old.test/v1/": "old",
		}),
		pullSecret("two", map[string]string{"quay.io": "later", "other.test": "second"}),
	})
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	for repository, want := range map[string]string{
		"quay.io/other/image":                 "host",
		"quay.io/openshift/image":             "folder",
		"quay.io/openshift-more/image":        "host",
		"quay.io/openshift/release":           "repository",
		"quay.io/openshift/release/deeper":    "repository",
		"index.docker.io/library/image":       "hub",
		"a.example.com/image":                 "wild",
		"EXACT.example.com/image":             "exact",
		"a.b.example.com/image":               "",
		"registry.test:5000/image":            "port",
		"registry.test:5001/image":            "",
		"registry.test/image":                 "",
		"old.test/v1/image":                   "old",
		"other.test/image":                    "second",
		"unknown.test/quay.io/openshift/path": "",
	} {
		repo, err := name.NewRepository(repository)
		must(t, err)
		auth, err := found.Resolve(repo)
		must(t, err)
		config, err := auth.Authorization()
		must(t, err)
		if config.Password != want || (auth == authn.Anonymous) != (want == "") {
			t.Errorf("%s gets %q, want %q", repository, config.Password, want)
		}
	}
}

func TestPuller_warns_of_what_it_cannot_use_without_telling_secrets(t *testing.T) {
	p := NewPuller(Options{ExtraCAFile: filepath.Join(t.TempDir(), "no", "gone.pem")})
	t.Cleanup(p.access.close)
	p.Use(Access{
		Credentials: []Document{
			{From: "Secret one/pull", Data: []byte(`s3cret`)},
			{From: "Secret two/pull", Data: []byte(`{"auths":{"quay.io":{"auth":"s3cret!"},"empty.test":{}}}`)},
		},
		CAs: []Document{
			{From: "ConfigMap one/ca", Data: []byte("none here")},
			{From: "ConfigMap two/ca", Data: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("broken")})},
		},
	})
	p.access.now()
	warning := p.Warning()
	for _, part := range []string{
		"Secret one/pull are not used", `{"auths":`, "for quay.io in Secret two/pull", "base64",
		"ConfigMap one/ca has no certificate", "block 1 (CERTIFICATE) of ConfigMap two/ca", "extra CA file cannot be read", "gone.pem",
	} {
		if !strings.Contains(warning, part) {
			t.Errorf("the warning does not say %q: %s", part, warning)
		}
	}
	if strings.Contains(warning, "s3cret") || strings.Contains(warning, "empty.test") {
		t.Errorf("the warning says too much: %s", warning)
	}
	p.Use(Access{})
	if p.Warning() != "" && !strings.HasPrefix(p.Warning(), "the extra CA file") {
		t.Errorf("it still warns of what is gone: %s", p.Warning())
	}
}

// proxy is an HTTP proxy on loopback that leads every connection to one address and remembers where it was to go.
type proxy struct {
	to     string
	asked  atomic.Pointer[string]
	server *httptest.Server
	ends   sync.WaitGroup
}

func newProxy(t *testing.T, to string) *proxy {
	p := &proxy{to: to}
	p.server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.server.Close()
		p.ends.Wait()
	})
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	p.asked.Store(&q.Host)
	far, err := net.Dial("tcp", p.to)
	if q.Method != http.MethodConnect || err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	near, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	// What the client has already sent is in the buffer.
	for _, way := range []struct {
		to   io.Writer
		from io.Reader
	}{{near, far}, {far, early}} {
		p.ends.Go(func() {
			_, _ = io.Copy(way.to, way.from)
			_ = near.Close()
			_ = far.Close()
		})
	}
}

func TestPuller_goes_through_the_proxy_of_the_environment_and_trusts_extra_CAs(t *testing.T) {
	r := newRegistry(t)
	local := r.push(imageOf(t, profileAt(root+"/a", "a")))
	ref, err := ParseRef("example.com/" + local.Repository() + "@" + local.Digest())
	must(t, err)
	secure := httptest.NewTLSServer(r)
	t.Cleanup(secure.Close)
	address, err := url.Parse(secure.URL)
	must(t, err)
	through := newProxy(t, address.Host)
	t.Setenv("HTTPS_PROXY", through.server.URL)
	t.Setenv("NO_PROXY", "other.test")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})

	t.Run("from the cluster's bundle", func(t *testing.T) {
		p := runPuller(t, Options{})
		p.Want([]Ref{ref})
		_, failure := p.failed(ref)
		contains(t, failure, "certificate that is not trusted", "user-ca-bundle", "--extra-ca-file", "example.com")
		if failure.Kind != KindNetwork {
			t.Errorf("the kind is %s", failure.Kind)
		}
		if asked := through.asked.Load(); asked == nil || *asked != "example.com:443" {
			t.Errorf("the proxy was asked for %v", asked)
		}
		p.use(Access{CAs: []Document{{From: "ConfigMap a/b", Data: certificate}}})
		p.recovered(ref)
	})
	t.Run("from a file that is written later", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "ca.pem")
		p := runPuller(t, Options{ExtraCAFile: file})
		p.Want([]Ref{ref})
		_, _ = p.failed(ref)
		if p.Warning() != "" {
			t.Errorf("it warns of a bundle that nobody has filled: %s", p.Warning())
		}
		must(t, os.WriteFile(file, certificate, 0o600))
		p.clock.Step(firstRetry)
		p.recovered(ref)
		if p.Warning() != "" {
			t.Errorf("it still warns: %s", p.Warning())
		}
	})
}

func TestTransport_leaves_out_the_proxy_where_the_environment_says_so(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.test:3128")
	t.Setenv("HTTP_PROXY", "http://plain.test:3128")
	t.Setenv("NO_PROXY", ".cluster.local,registry.test,10.0.0.0/16")
	transport := newTransport(nil)
	for address, want := range map[string]string{
		"https://quay.io/v2/":              "proxy.test:3128",
		"http://quay.io/v2/":               "plain.test:3128",
		"https://registry.test/v2/":        "",
		"https://registry.test:5000/v2/":   "",
		"https://a.svc.cluster.local/v2/":  "",
		"https://10.0.3.4:5000/v2/":        "",
		"https://10.1.3.4:5000/v2/":        "proxy.test:3128",
		"https://127.0.0.1:5000/v2/":       "",
		"https://notregistry.test:443/v2/": "proxy.test:3128",
	} {
		request, err := http.NewRequest(http.MethodGet, address, nil)
		must(t, err)
		got, err := transport.Proxy(request)
		must(t, err)
		host := ""
		if got != nil {
			host = got.Host
		}
		if host != want {
			t.Errorf("%s goes through %q, want %q", address, host, want)
		}
	}
}
