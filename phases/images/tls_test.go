package images

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"testing"
)

// remoteHost makes a registry on loopback look like one elsewhere.
func remoteHost(t *testing.T, to string, roots *x509.CertPool) *http.Transport {
	t.Helper()
	transport := newTransport(nil)
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func TestPuller_speaks_without_TLS_only_where_that_is_allowed(t *testing.T) {
	r := newRegistry(t)
	local := r.push(imageOf(t, profileAt(root+"/a", "a")))
	for _, c := range []struct {
		name, host string
		insecure   []string
		says       string // nothing: it works
	}{
		{"a name that is not listed", "registry.test:5000", nil, "HTTP response to HTTPS client"},
		{"a name that is listed", "registry.test:5000", []string{"registry.test:5000"}, ""},
		{"the same name on another port", "registry.test:5000", []string{"registry.test:5001", "registry.test"}, "HTTP response to HTTPS client"},
		{"a private address that is not listed", "10.0.0.7:5000", nil, "--insecure-registry=10.0.0.7:5000"},
		{"a private address that is listed", "10.0.0.7:5000", []string{"10.0.0.7:5000"}, ""},
		{"any loopback address", "127.9.9.9:5000", nil, ""},
		{"the loopback address of IPv6", "[::1]:5000", nil, ""},
		{"localhost", "localhost:5000", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref, err := ParseRef(c.host + "/" + local.Repository() + "@" + local.Digest())
			must(t, err)
			p := runPuller(t, Options{InsecureRegistries: c.insecure, Transport: remoteHost(t, r.host, nil)})
			p.Want([]Ref{ref})
			if c.says == "" {
				p.ready(ref)
				return
			}
			_, failure := p.failed(ref)
			contains(t, failure, c.says)
			if failure.Kind != KindNetwork {
				t.Errorf("the kind is %s", failure.Kind)
			}
		})
	}
}

func TestPuller_refuses_to_leave_TLS_by_a_redirect(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	p := runPuller(t, Options{Transport: transport})
	p.Want([]Ref{ref})
	p.ready(ref)

	r.breaks("/blobs/", func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, "http://"+r.host+"/secret?signature=hidden", http.StatusTemporaryRedirect)
	})
	p = runPuller(t, Options{Transport: transport.Clone()})
	p.Want([]Ref{ref})
	_, failure := p.failed(ref)
	contains(t, failure, "without TLS is not allowed", r.host)
	if strings.Contains(failure.Error(), "hidden") {
		t.Errorf("the message tells a signature: %v", failure)
	}
}
