package guest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/cluster-api/util/certs"
)

// servingKey is that of all fronts, since to make one for each of many clusters takes long.
var servingKey = sync.OnceValues(func() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) })

// authority is that of a cluster, which certifies its API server and its clients.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// front is an API server's endpoint.
type front struct {
	server *http.Server
	ended  chan struct{}
	lacks  *lacks
}

// lacks is what a front lacks for a while. It may be changed while requests are answered.
type lacks struct{ credentials, kinds, haste atomic.Bool }

// slow is for how long an answer is kept back that a guest without haste gives. A few of them together take longer than anybody waits.
const slow = 2 * time.Second

// wait keeps an answer back for as long as a guest lets everybody wait, or until whoever asked is gone.
func (l *lacks) wait(ctx context.Context) {
	if !l.haste.Load() {
		return
	}
	timer := time.NewTimer(slow)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// set has a front lack what is named, and nothing else.
func (l *lacks) set(held []string) {
	l.credentials.Store(slices.Contains(held, NoCredentials))
	l.kinds.Store(slices.Contains(held, NoKinds))
	l.haste.Store(slices.Contains(held, NoHaste))
}

// newFront opens the endpoint before the fake API server at a port of the loopback.
func newFront(ctx context.Context, host string, port int32, by authority, fake int32, objects *objects) (*front, error) {
	certificate, err := by.serving(host)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		return nil, fmt.Errorf("opening the endpoint: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(by.certificate)
	without := &lacks{}
	f := &front{ended: make(chan struct{}), lacks: without, server: &http.Server{
		Handler:           handler{objects: objects, fake: passOn(fake), lacks: without, probes: &atomic.Int64{}},
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{*certificate}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: clients, MinVersion: tls.VersionTLS12,
		},
	}}
	go func() {
		defer close(f.ended)
		_ = f.server.ServeTLS(listener, "", "") // always an error: that it was closed
	}()
	return f, nil
}

// close ends the endpoint and all connections, as a machine that is switched off.
func (f *front) close() {
	_ = f.server.Close()
	<-f.ended
}

// serving certifies an API server at a host.
func (a authority) serving(host string) (*tls.Certificate, error) {
	key, err := servingKey()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	names := certs.AltNames{DNSNames: []string{"localhost"}}
	if address := net.ParseIP(host); address != nil {
		names.IPs = append(names.IPs, address)
	} else {
		names.DNSNames = append(names.DNSNames, host)
	}
	asked := certs.Config{CommonName: "kube-apiserver", AltNames: names, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	signed, err := asked.NewSignedCert(key, a.certificate, a.key)
	if err != nil {
		return nil, fmt.Errorf("certifying the endpoint: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{signed.Raw}, PrivateKey: key}, nil
}

// passOn has a fake API server answer, which knows its cluster by the port that a request names.
func passOn(port int32) http.Handler {
	to := &url.URL{Scheme: "https", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // it is this process that serves there
		},
	}
}
