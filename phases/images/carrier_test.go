package images

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return r(q) }

// secureRegistry is one with TLS, and the transport with which it is example.com; every other host is where the
// transport leads it.
func secureRegistry(t *testing.T) (*testRegistry, Ref, *http.Transport) {
	t.Helper()
	r := newRegistry(t)
	local := r.push(imageOf(t, profileAt(root+"/a", "a")))
	secure := httptest.NewTLSServer(r)
	t.Cleanup(secure.Close)
	address, err := url.Parse(secure.URL)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	ref, err := ParseRef("example.com/" + local.Repository() + "@" + local.Digest())
	must(t, err)
	return r, ref, remoteHost(t, address.Host, roots)
}

func TestPuller_repeats_nothing_that_a_token_server_answers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no token":      answers(200, `{"refresh_token":"SECRET"}`),
		"not JSON":      answers(200, `SECRET`),
		"a refusal":     answers(403, `{"errors":[{"code":"DENIED","message":"SECRET"}]}`),
		"another error": answers(500, `SECRET`),
	} {
		t.Run(name, func(t *testing.T) {
			r, ref, transport := secureRegistry(t)
			fault := func(w http.ResponseWriter, q *http.Request) bool {
				if q.URL.Path == "/token" {
					answer(w, q)
				} else {
					w.Header().Set("WWW-Authenticate", `Bearer realm="https://tokens.example.com/token",service="s"`)
					w.WriteHeader(http.StatusUnauthorized)
				}
				return true
			}
			r.fault.Store(&fault)
			p := runPuller(t, Options{Transport: transport})
			p.Want([]Ref{ref})
			_, err := p.failed(ref)
			if strings.Contains(err.Error(), "SECRET") || err.Terminal() {
				t.Errorf("got %v", err)
			}
			contains(t, err, "registry example.com")
		})
	}
}

func TestPuller_says_what_a_registry_answers_in_one_line_that_controls_no_terminal(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.breaks("/manifests/", answers(500, `{"errors":[{"code":"X","message":"\u001b]52;c;AAAA\u0007\nAvailable=True"}]}`))
	p := runPuller(t, Options{})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "\ufffd]52;c;AAAA\ufffd Available=True")
	if strings.ContainsAny(err.Error(), "\x1b\n\x07") {
		t.Errorf("got %q", err)
	}
}

func TestPuller_follows_three_redirects_and_no_more(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	for most, works := range map[int]bool{3: true, 4: false} {
		fault := func(w http.ResponseWriter, q *http.Request) bool {
			hops := len(q.URL.Query()["hop"])
			if !strings.Contains(q.URL.Path, "/blobs/") || hops == most {
				return false
			}
			http.Redirect(w, q, "https://cdn.example.com"+q.URL.Path+"?"+strings.Repeat("hop=1&", hops+1), http.StatusTemporaryRedirect)
			return true
		}
		r.fault.Store(&fault)
		p := runPuller(t, Options{Transport: transport})
		p.Want([]Ref{ref})
		if works {
			p.ready(ref)
			continue
		}
		_, err := p.failed(ref)
		contains(t, err, "registry example.com redirects more than 3 times", "cdn.example.com")
	}
}

func TestPuller_is_not_sent_on_to_addresses_that_only_this_machine_can_ask(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	for _, host := range []string{
		"127.0.0.1:8443", "localhost", "169.254.169.254", "[fe80::1]", "0.0.0.0", "[::1]:443", "[::ffff:127.0.0.1]", "[fd00:ec2::254]", "168.63.129.16",
	} {
		for _, at := range []string{"/blobs/", "/v2/"} {
			r.breaks(at, func(w http.ResponseWriter, q *http.Request) {
				if at == "/blobs/" {
					http.Redirect(w, q, "https://"+host+"/x", http.StatusTemporaryRedirect)
					return
				}
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="https://%s/token",service="s"`, host))
				w.WriteHeader(http.StatusUnauthorized)
			})
			asked := roundTripper(func(q *http.Request) (*http.Response, error) {
				if q.URL.Host != "example.com" {
					t.Errorf("%s sends on to %s, which was asked", at, q.URL.Host)
				}
				return transport.RoundTrip(q)
			})
			p := runPuller(t, Options{Transport: asked})
			p.Want([]Ref{ref})
			if _, err := p.failed(ref); at == "/blobs/" {
				contains(t, err, host, "a loopback, link-local or metadata address")
			}
		}
	}
}

func TestPuller_asks_no_registry_at_an_address_of_this_machine_or_its_cloud(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "169.254.169.254:80", "[fe80::1]:5000", "0.0.0.0", "[fd00:ec2::254]", "168.63.129.16"} {
		asked := func(*http.Request) (*http.Response, error) {
			t.Errorf("%s was asked", host)
			return nil, errors.ErrUnsupported
		}
		ref := Ref(host + "/providers/some@sha256:" + strings.Repeat("0", 64))
		p := runPuller(t, Options{Transport: roundTripper(asked)})
		p.Want([]Ref{ref})
		_, err := p.failed(ref)
		contains(t, err, host, "a link-local or metadata address", "look at the list of images and the mirrors")
	}
}

// The name tells nothing: what counts is what it resolves to.
func TestOuterTransport_looks_at_the_addresses_that_names_resolve_to(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	dial := func() error {
		connection, err := newOuterTransport(nil, newNetworks(nil, nil)).DialContext(t.Context(), "tcp", net.JoinHostPort("localhost", port))
		if err == nil {
			_ = connection.Close()
		}
		return err
	}
	if err := dial(); err == nil {
		t.Error("a name for this machine was dialled")
	} else {
		contains(t, err, "loopback, link-local or metadata address")
	}
	t.Setenv("HTTPS_PROXY", "http://localhost:"+port)
	if err := dial(); err != nil {
		t.Errorf("a proxy may be on this machine: %v", err)
	}
}

func TestPuller_leaves_TLS_only_where_there_is_none(t *testing.T) {
	const host = "example.com"
	for _, c := range []struct {
		name   string
		secure bool
	}{{"a registry with TLS", true}, {"one without", false}} {
		t.Run(c.name, func(t *testing.T) {
			r, ref, transport := secureRegistry(t)
			withTLS := transport.DialContext
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				if c.secure && strings.HasSuffix(address, ":443") {
					return withTLS(ctx, network, address)
				}
				return (&net.Dialer{}).DialContext(ctx, network, r.host)
			}
			var tried atomic.Bool
			r.breaks("/v2/", func(w http.ResponseWriter, q *http.Request) {
				if q.TLS == nil {
					tried.Store(true)
				}
				w.WriteHeader(http.StatusServiceUnavailable) // so that the other way is tried
			})
			p := runPuller(t, Options{Transport: transport, InsecureRegistries: []string{host}})
			p.Want([]Ref{ref})
			_, err := p.failed(ref)
			if tried.Load() == c.secure {
				t.Errorf("it was asked without TLS: %t; %v", tried.Load(), err)
			}
		})
	}
}

func TestPuller_sends_credentials_without_TLS_only_where_that_is_allowed(t *testing.T) {
	r := newRegistry(t)
	local := r.push(imageOf(t, profileAt(root+"/a", "a")))
	ref, err := ParseRef("registry.test:5000/" + local.Repository() + "@" + local.Digest())
	must(t, err)
	for _, allowed := range []bool{false, true} {
		var sent atomic.Bool
		fault := func(w http.ResponseWriter, q *http.Request) bool {
			if q.Header.Get("Authorization") != "" {
				sent.Store(true)
				return false
			}
			w.Header().Set("WWW-Authenticate", "Basic realm=test")
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		r.fault.Store(&fault)
		p := runPuller(t, Options{InsecureRegistries: []string{"registry.test:5000"}, InsecureCredentials: allowed, Transport: remoteHost(t, r.host, nil)})
		p.use(Access{Credentials: []Document{pullSecret("Secret a/b", map[string]string{"registry.test:5000": "right"})}})
		p.Want([]Ref{ref})
		if allowed {
			p.ready(ref)
		} else {
			_, failure := p.failed(ref)
			contains(t, failure, "its credentials are not sent without TLS", "--insecure-credentials")
		}
		if sent.Load() != allowed {
			t.Errorf("allowed: %t, sent: %t", allowed, sent.Load())
		}
	}
}
