package images

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
)

const (
	// dialTimeout bounds opening a connection to a registry or proxy.
	dialTimeout = 10 * time.Second
	// handshakeTimeout bounds the TLS handshake with a registry or proxy.
	handshakeTimeout = 10 * time.Second
	// keepAlive is how often a quiet connection to a registry is probed.
	keepAlive = 30 * time.Second
	// idleTimeout is how long an unused connection to a registry stays open.
	idleTimeout = 10 * time.Second
	// continueTimeout is how long a request waits for "100 Continue" where it asks for it.
	continueTimeout = time.Second
)

// newTransport uses the proxy of the environment as it is now: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
func newTransport(roots *x509.CertPool) *http.Transport {
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	return &http.Transport{
		Proxy:                 func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   parallelism,
		IdleConnTimeout:       idleTimeout,
		TLSHandshakeTimeout:   handshakeTimeout,
		ExpectContinueTimeout: continueTimeout,
	}
}

// metadata are addresses of clouds' metadata services that are not link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
}

// isInner reports whether a host, as it is written, is an address that no registry may send requests on to.
func isInner(host string) bool {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return isLoopback(host)
	}
	address = address.Unmap().WithZone("")
	return address.IsLoopback() || address.IsUnspecified() || address.IsLinkLocalUnicast() || address.IsLinkLocalMulticast() ||
		slices.Contains(metadata, address)
}

// newOuterTransport is newTransport for hosts that a registry names. It looks at the addresses that they resolve to; a
// proxy may be anywhere, and resolves names itself.
func newOuterTransport(roots *x509.CertPool, networks *networks) *http.Transport {
	transport := newTransport(roots)
	proxies := httpproxy.FromEnvironment()
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if isProxy(proxies.HTTPSProxy, address) || isProxy(proxies.HTTPProxy, address) {
			return dialer.DialContext(ctx, network, address)
		}
		inside, err := networks.now(ctx)
		if err != nil {
			return nil, &unknownNetworksError{host: address, err: err}
		}
		guarded := *dialer
		guarded.Control = func(_, address string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return &innerError{host: address}
			}
			return refusalOf(inside, address, host)
		}
		return guarded.DialContext(ctx, network, address)
	}
	return transport
}

// isProxy reports whether a proxy, as it is in the environment, has an address.
func isProxy(proxy, address string) bool {
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	where, err := url.Parse(proxy)
	if err != nil {
		return false
	}
	port := where.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[where.Scheme]
	}
	return address == net.JoinHostPort(where.Hostname(), port)
}

// trustedRoots returns the system's certificates and those of the documents, or nil, which means the system's only.
func trustedRoots(documents []Document) (roots *x509.CertPool, problems []string) {
	if len(documents) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots, problems = x509.NewCertPool(), []string{fmt.Sprintf("the system's certificates are not trusted: %v", err)}
	}
	for _, document := range documents {
		number, rest := 0, document.Data
		for {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			number++
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				problems = append(problems, fmt.Sprintf("block %d (%s) of %s is not trusted: %v", number, block.Type, document.From, err))
				continue
			}
			roots.AddCert(certificate)
		}
		if number == 0 {
			problems = append(problems, fmt.Sprintf("%s has no certificate in PEM", document.From))
		}
	}
	return roots, problems
}
