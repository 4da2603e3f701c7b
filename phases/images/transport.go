package images

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
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
