package images

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
)

// redirectsMost is how many redirects are followed one after the other.
const redirectsMost = 3

// transports carry requests: registry those to the registry of a reference, outer those to hosts that it names.
type transports struct{ registry, outer http.RoundTripper }

func newTransports(roots *x509.CertPool, networks *networks) transports {
	return transports{newTransport(roots), newOuterTransport(roots, networks)}
}

func (t transports) close() {
	for _, by := range []http.RoundTripper{t.registry, t.outer} {
		if own, is := by.(*http.Transport); is {
			own.CloseIdleConnections()
		}
	}
}

// withheld stands for credentials that are not sent.
type withheld struct{ authn.Authenticator }

// plainAllowed reports whether a registry may be spoken to without TLS.
func (r *registries) plainAllowed(host string) bool {
	for _, listed := range r.insecure {
		if strings.EqualFold(listed, host) {
			return true
		}
	}
	return isLoopback(host)
}

// isLoopback looks at names and addresses as they are written.
func isLoopback(host string) bool {
	hostname := (&url.URL{Host: host}).Hostname()
	ip := net.ParseIP(hostname)
	return hostname == "localhost" || strings.HasSuffix(hostname, ".localhost") || ip != nil && ip.IsLoopback()
}

// registryTransport sends the requests to one registry, and to the hosts that it names, with our user agent. It refuses
// plain HTTP, also in redirects and to token servers, unless plainAllowed; go-containerregistry alone would allow it for
// every private address, and for whoever delays TLS.
type registryTransport struct {
	registries *registries
	host       string
	// noPlain is why the registry may not be spoken to without TLS although that is allowed; nil if it can be.
	noPlain error
	clear   bool // no credentials are lost where there is no TLS
}

// speaksTLS is nil only for a registry that has answered the beginning of TLS with something else.
func (t *registryTransport) speaksTLS(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+t.host+"/v2/", nil)
	if err != nil {
		return err
	}
	answer, err := t.send(t.registries.transports.registry, request)
	if err == nil {
		return errors.Join(answer.Body.Close(), fail(KindNetwork, "registry %s speaks TLS, so it is not spoken to without", t.host))
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return nil
	}
	return err
}

func (t *registryTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	redirects := 0
	for r := request; r.Response != nil && r.Response.Request != nil; r = r.Response.Request {
		redirects++
	}
	own := strings.EqualFold(request.URL.Host, t.host) ||
		request.URL.Scheme == "https" && strings.EqualFold(strings.TrimSuffix(request.URL.Host, ":443"), strings.TrimSuffix(t.host, ":443"))
	switch plain := request.URL.Scheme != "https"; {
	case redirects > redirectsMost:
		return nil, fail(KindRegistry, "registry %s redirects more than %d times, at last to %s; look into its configuration", t.host, redirectsMost, request.URL.Host)
	case plain && own && t.noPlain != nil:
		return nil, t.noPlain
	case plain && (!t.registries.plainAllowed(t.host) || t.noPlain != nil || !t.registries.plainAllowed(request.URL.Host)),
		plain && !own && !t.clear && !isLoopback(request.URL.Host):
		return nil, &plainHTTPError{host: request.URL.Host}
	case own && isInner(request.URL.Hostname()) && !isLoopback(t.host):
		return nil, &innerError{host: request.URL.Host, itself: true}
	case own || isLoopback(t.host):
		return t.send(t.registries.transports.registry, request)
	case isInner(request.URL.Hostname()):
		return nil, &innerError{host: request.URL.Host}
	}
	if refused := t.registries.networks.refusal(request.Context(), request.URL.Host, request.URL.Hostname()); refused != nil {
		return nil, refused
	}
	return t.send(t.registries.transports.outer, request)
}

func (t *registryTransport) send(by http.RoundTripper, request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("User-Agent", userAgent)
	answer, err := by.RoundTrip(request)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(plain.RecordHeader[:]) == "HTTP/" {
		err = fmt.Errorf("%w (%w)", http.ErrSchemeMismatch, plain)
	}
	if err != nil {
		return nil, &sentError{err}
	}
	return answer, nil
}

// sentError is what went wrong in sending a request or reading its answer. Unlike other errors of a handshake it quotes
// nothing of an answer but what is wrong with its form.
type sentError struct{ err error }

func (e *sentError) Error() string { return e.err.Error() }

func (e *sentError) Unwrap() error { return e.err }

type plainHTTPError struct{ host string }

func (e *plainHTTPError) Error() string {
	return fmt.Sprintf("speaking to %s without TLS is not allowed; give it a certificate, or allow it with --insecure-registry=%s", e.host, e.host)
}

// innerError is about an address that only a process on this machine, in its cluster or in its cloud should be asked at.
type innerError struct {
	host    string
	itself  bool         // it is the registry, and not what one sends requests on to
	network netip.Prefix // of the cluster, that the address is in; none for one of the machine or its cloud
}

func (e *innerError) Error() string {
	if e.itself {
		return fmt.Sprintf("%s is a link-local or metadata address, where no registry is asked; look at the list of images and the mirrors", e.host)
	}
	if e.network.IsValid() {
		return fmt.Sprintf("it sends requests on to %s, which is in the network %s of the cluster's pods or services; let it serve layers and tokens itself, under the name by which it is asked, or name a mirror that does", e.host, e.network)
	}
	return fmt.Sprintf("it sends requests on to %s, which is a loopback, link-local or metadata address; look into its configuration, and that of its token server", e.host)
}
