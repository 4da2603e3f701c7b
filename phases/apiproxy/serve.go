package apiproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
)

const (
	// headerTimeout is how long a client of capi-proxy may take for the headers of a request.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection of a client of capi-proxy may wait for its next request.
	idleTimeout = 5 * time.Minute
	// healthTimeout is how long a client of the health and metrics of capi-proxy may take for a request, for its answer, and to ask again.
	healthTimeout = 5 * time.Second
	// drain is how long requests may go on after the end was told to capi-proxy.
	drain = 5 * time.Second
	// look is how often capi-proxy asks whether the server is ready, until it was once.
	look = time.Second
)

const (
	// headerLimit bounds the headers of a request, in bytes: what is kept of one that has nothing but names takes some forty times as much.
	headerLimit = 16 << 10
	// strangersLimit bounds the connections that have not shown the token yet.
	strangersLimit = 64
	// healthLimit bounds the connections for health and metrics, which are open to the cluster: a few probes and scrapes.
	healthLimit = 32
	// healthHeaderLimit bounds the headers of a request there, in bytes.
	healthHeaderLimit = 4 << 10
	// scrapesLimit is how many requests for metrics are answered at once.
	scrapesLimit = 4
)

// Server is the process: the proxy on one address, health and metrics on another.
type Server struct {
	proxy   *Proxy
	api     net.Listener
	health  net.Listener
	metrics prometheus.Gatherer
	ready   atomic.Bool
	ending  atomic.Bool
}

// Listen takes both addresses, or says which cannot be had. Nothing is served before Run. The address of the API is of a
// loopback interface; that of health is empty for none.
func Listen(ctx context.Context, p *Proxy, metrics prometheus.Gatherer, address, health string) (*Server, error) {
	if host, _, err := net.SplitHostPort(address); err != nil || host == "" || !isLoopback(host) {
		return nil, fmt.Errorf("the API is served on loopback only, as 127.0.0.1:8080, not on %q", address)
	}
	s := &Server{proxy: p, metrics: metrics}
	api, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for the API: %w", err)
	}
	s.api = gatheringListener{unhurried{api, p.strangers}}
	if health == "" {
		return s, nil
	}
	open, err := new(net.ListenConfig).Listen(ctx, "tcp", health)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for health and metrics: %w", err), s.api.Close())
	}
	s.health = open
	return s, nil
}

// Address is where the API is served.
func (s *Server) Address() string { return s.api.Addr().String() }

// HealthAddress is where health and metrics are; empty for nowhere.
func (s *Server) HealthAddress() string {
	if s.health == nil {
		return ""
	}
	return s.health.Addr().String()
}

// Run serves until the context ends, and then for as long as requests last, 5 s at most.
func (s *Server) Run(ctx context.Context) error {
	group, ended := errgroup.WithContext(ctx)
	group.Go(func() error { return s.serve(ended, s.api, s.apiServer(), "the API", s.proxy.streams.Wait) })
	if s.health != nil {
		group.Go(func() error { return s.serve(ended, s.health, s.healthServer(), "health and metrics", func() {}) })
	}
	group.Go(func() error {
		s.awaitServer(ended)
		return nil
	})
	group.Go(func() error {
		ticker := time.NewTicker(tidyAfter)
		defer ticker.Stop()
		tidy(ended, ticker.C, s.proxy.asked.Load, giveBack)
		return nil
	})
	context.AfterFunc(ended, func() { s.ending.Store(true) })
	return group.Wait()
}

// apiServer bounds no answer: a watch has no end.
func (s *Server) apiServer() *http.Server {
	return &http.Server{
		Handler: s.proxy, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerLimit, ErrorLog: libraryLog(s.proxy.log),
		ConnContext: withGathering, ConnState: s.proxy.strangers.note,
	}
}

// healthServer keeps no connection of who says or reads nothing.
func (s *Server) healthServer() *http.Server {
	return &http.Server{
		Handler: s.state(), ReadTimeout: healthTimeout, WriteTimeout: healthTimeout, IdleTimeout: healthTimeout, MaxHeaderBytes: healthHeaderLimit,
		ErrorLog: libraryLog(s.proxy.log), ConnState: newEvicting(healthLimit).note,
	}
}

// serve serves until the context ends, and then waits for requests, and for what has outlasted them.
func (s *Server) serve(ctx context.Context, on net.Listener, server *http.Server, what string, outlasting func()) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(on) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving %s: %w", what, err)
	case <-ctx.Done():
	}
	until, end := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer end()
	if err := server.Shutdown(until); err != nil {
		_ = server.Close() // what is left breaks, and the time is over for streams, too
		return nil
	}
	// No request is left that could begin a stream.
	gone := make(chan struct{})
	go func() {
		outlasting()
		close(gone)
	}()
	select {
	case <-gone:
	case <-until.Done(): // those that are left end with the process, and begin anew elsewhere
	}
	return nil
}

// state says how the process is, and what it has counted.
func (s *Server) state() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case s.ending.Load():
			http.Error(w, "it is being ended", http.StatusServiceUnavailable)
		case !s.ready.Load():
			http.Error(w, "kube-apiserver was not seen ready yet", http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ok")
		}
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesLimit, DisableCompression: true}))
	return mux
}

// awaitServer asks whether the server is ready, until it was once: later it is for the server to say so to who asks it.
func (s *Server) awaitServer(ctx context.Context) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for !s.ready.Load() {
		if s.proxy.upstream.isReady(ctx) {
			s.ready.Store(true)
			s.proxy.log.Info("kube-apiserver is ready")
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// isReady asks the server itself.
func (u *upstream) isReady(ctx context.Context) bool {
	ctx, end := context.WithTimeout(ctx, dialTimeout)
	defer end()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, trimSlash(u.base.String())+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := u.documents.RoundTrip(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
