// Package proxy stands between an operator and its kube-apiserver and does to
// requests what networks and servers do on bad days, by rules. It also counts
// writes, so that a test can end the operator exactly between two of them. It
// speaks plain HTTP on loopback to whoever asks, with the credentials that it
// was given: it is for tests only.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy is running until Stop. Its methods may be called from any goroutine.
type Proxy struct {
	upstream  *url.URL
	transport http.RoundTripper
	server    *http.Server
	address   string
	served    chan struct{}

	mu      sync.Mutex
	rules   []*Active
	watches map[*Exchange]bool
	count   counter
}

// Start serves what config gives access to, on a free loopback port.
func Start(config *rest.Config) (*Proxy, error) {
	upstream, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy before %s: %w", config.Host, err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy before %s: %w", config.Host, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a proxy before %s: %w", config.Host, err)
	}
	p := &Proxy{
		upstream: upstream, transport: transport, address: listener.Addr().String(),
		served: make(chan struct{}), watches: map[*Exchange]bool{},
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener) // always ends with the error that Stop caused
	}()
	return p, nil
}

// URL is where to find it.
func (p *Proxy) URL() string { return "http://" + p.address }

// Stop cuts all connections.
func (p *Proxy) Stop() error {
	p.Clear()
	err := p.server.Close()
	<-p.served
	if err != nil {
		return fmt.Errorf("stopping the proxy on %s: %w", p.address, err)
	}
	return nil
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{Request: requestOf(r), proxy: p, answer: w, r: r, cut: make(chan struct{})}
	if active := p.meets(x.Request); active != nil {
		x.ended = active.ended
		active.rule.Fault(x)
		return
	}
	if x.Request.IsWrite() {
		p.serveWrite(x)
		return
	}
	x.Pass()
}

// Exchange is one request and the way to answer it.
type Exchange struct {
	Request Request

	proxy  *Proxy
	answer http.ResponseWriter
	r      *http.Request
	ended  <-chan struct{} // of the rule; nil without one
	cut    chan struct{}
}

// forward sends the request to the server as it came.
func (x *Exchange) forward() (*http.Response, error) {
	out := x.r.Clone(x.r.Context())
	out.URL.Scheme, out.URL.Host = x.proxy.upstream.Scheme, x.proxy.upstream.Host
	out.Host, out.RequestURI = "", ""
	out.Header.Del("Connection")
	return x.proxy.transport.RoundTrip(out)
}

// answered sends the request, takes over the headers of the answer, and calls do
// with it. A server that is gone is one whose connection breaks.
func (x *Exchange) answered(do func(*http.Response)) {
	response, err := x.forward()
	if err != nil {
		x.Reset()
		return
	}
	defer response.Body.Close()
	copyHeader(x.answer.Header(), response.Header)
	do(response)
}

// Pass lets the request through.
func (x *Exchange) Pass() { x.pass(func() {}) }

// pass calls before ahead of each piece of the answer.
func (x *Exchange) pass(before func()) {
	x.answered(func(response *http.Response) { x.relay(response, before) })
}

func (x *Exchange) relay(response *http.Response, before func()) {
	if x.Request.Verb == "watch" {
		x.proxy.watching(x, true)
		defer x.proxy.watching(x, false)
		go func() {
			select {
			case <-x.cut:
				response.Body.Close()
			case <-x.r.Context().Done():
			}
		}()
	}
	x.answer.WriteHeader(response.StatusCode)
	x.flush()
	buffer := make([]byte, 64<<10)
	for {
		n, err := response.Body.Read(buffer)
		if n > 0 {
			before()
			if _, err := x.answer.Write(buffer[:n]); err != nil {
				return
			}
			x.flush()
		}
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			x.Reset()
			return
		}
	}
}

func (x *Exchange) flush() { _ = http.NewResponseController(x.answer).Flush() }

// Reset cuts the client's connection without a word.
func (x *Exchange) Reset() {
	connection, _, err := http.NewResponseController(x.answer).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server's way to cut a connection
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not a goodbye
	}
	connection.Close()
}

// wait returns when ctx or the rule ends, or the client gives up.
func (x *Exchange) wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-x.ended:
	case <-x.r.Context().Done():
	case <-x.cut:
	}
}

// hopByHop are headers of one connection only.
var hopByHop = []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"}

func copyHeader(to, from http.Header) {
	for key, values := range from {
		if !slices.ContainsFunc(hopByHop, func(h string) bool { return strings.EqualFold(h, key) }) {
			to[key] = values
		}
	}
}

func (p *Proxy) watching(x *Exchange, is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if is {
		p.watches[x] = true
		return
	}
	delete(p.watches, x)
}

// watched are the addresses of all watches under way.
func (p *Proxy) watched() []*url.URL {
	p.mu.Lock()
	defer p.mu.Unlock()
	var addresses []*url.URL
	for x := range p.watches {
		address := *x.r.URL
		addresses = append(addresses, &address)
	}
	return addresses
}

// Watches is how many watches are under way.
func (p *Proxy) Watches() int { return len(p.watched()) }

// CutWatches ends the connections of all watches of a resource, or of all
// resources if it is empty, and returns how many there were.
func (p *Proxy) CutWatches(resource string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut := 0
	for x := range p.watches {
		if resource == "" || x.Request.Resource == resource {
			close(x.cut)
			delete(p.watches, x)
			cut++
		}
	}
	return cut
}
