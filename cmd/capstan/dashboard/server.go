package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/netutil"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/view"
)

// The bounds of the server.
const (
	maxConnections = 128
	maxRequests    = 32
	maxHeader      = 16 << 10
	maxBody        = 4 << 10
	// headerWithin is how long the head of a request may take to come.
	headerWithin = 5 * time.Second
	// requestWithin is how long the whole of a request may take to come.
	requestWithin = 10 * time.Second
	// idleWithin is how long a connection may be without a request.
	idleWithin = time.Minute
	// endWithin is how long requests that have begun may take when the command ends.
	endWithin = 2 * time.Second
)

// Options are what a dashboard is made of.
type Options struct {
	// Views are those of all machines; the first is the one that installs.
	Views []view.View
	// Clusters are those that there is a page for.
	Clusters []Cluster
	// OperatorNamespace is where the operator keeps its ConfigMaps.
	OperatorNamespace string
	// Plan makes a plan over a connection that it is given; what it returns is printed as JSON.
	Plan func(context.Context, *rest.Config) (any, error)
	// Tell is told what the person at the terminal should know.
	Tell func(string)
}

// Cluster is one of a kubeconfig's contexts, and how to get there.
type Cluster struct {
	Name   string
	Access inspect.Access
}

// Server serves the page of some clusters.
type Server struct {
	o        Options
	host     string // what the page is asked for under
	listener net.Listener
	sessions *sessions
	clusters []*cluster
	diagrams []byte
	streams  chan struct{}
	requests chan struct{}
	ends     context.Context // ends with the server
}

// Listen takes a port of this machine, 0 for any that is free, and makes a server of it. Nothing is sent. Clusters are asked, and
// streams last, until the context ends.
func Listen(ctx context.Context, port int, o Options) (*Server, error) {
	s := &Server{
		o: o, sessions: &sessions{now: time.Now}, streams: make(chan struct{}, maxStreams), requests: make(chan struct{}, maxRequests), ends: ctx,
	}
	for i, of := range o.Clusters {
		conn, err := connect(of.Access)
		if err != nil {
			return nil, err
		}
		s.clusters = append(s.clusters, newCluster(strconv.Itoa(i), of, conn.config.Host, o))
	}
	var err error
	if s.diagrams, err = encoded(diagramsOf(o.Views)); err != nil {
		return nil, fmt.Errorf("writing down the diagrams: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listening on this machine: %w", err)
	}
	s.host, s.listener = listener.Addr().String(), netutil.LimitListener(listener, maxConnections)
	return s, nil
}

func newCluster(id string, of Cluster, server string, o Options) *cluster {
	return &cluster{
		Context: Context{ID: id, Name: of.Name, Server: server}, access: of.Access, views: o.Views, namespace: o.OperatorNamespace, times: usual,
		shell: shell{kubeconfig: of.Access.Kubeconfig, context: of.Access.Context, as: of.Access.As}, reads: newLane(), plans: newLane(), news: make(chan struct{}),
	}
}

// Address is a URL that opens the page, once: with a new code, which is in the fragment, so that it is sent to nobody.
func (s *Server) Address() string { return "http://" + s.host + "/#code=" + s.sessions.newCode() }

// Serve serves until the context of the server ends.
func (s *Server) Serve() error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerWithin, ReadTimeout: requestWithin, IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader,
		ErrorLog:    log.New(io.Discard, "", 0), // which quotes what anybody sends
		BaseContext: func(net.Listener) context.Context { return s.ends },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving the page: %w", err)
	case <-s.ends.Done():
	}
	for _, c := range s.clusters {
		c.stop()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ends), endWithin)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// Handler answers all requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request){
		"GET /api/contexts":               s.listContexts,
		"GET /api/diagrams":               s.drawDiagrams,
		"GET /api/watch":                  s.watch,
		"GET /api/contexts/{id}/family":   s.listFamily,
		"GET /api/contexts/{id}/instance": s.showInstance,
		"GET /api/contexts/{id}/objects":  s.listObjects,
		"GET /api/contexts/{id}/history":  s.showHistory,
		"POST /api/contexts/{id}/plan":    s.makePlan,
	} {
		mux.Handle(pattern, s.withToken(handle))
	}
	mux.HandleFunc("POST /api/session", s.beginSession)
	mux.Handle("/api/", s.withToken(func(w http.ResponseWriter, _ *http.Request) {
		s.refuse(w, http.StatusNotFound, Problem{Error: "there is nothing that answers so here"})
	}))
	mux.HandleFunc("/", s.static)
	return s.guarded(mux)
}
