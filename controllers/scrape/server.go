package scrape

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Server is one that a manager runs beside the caches, from the moment on at which they are filled; whether this replica works
// makes no difference.
type Server struct {
	// What is served, for errors.
	What    string
	Address string
	HTTP    *http.Server
	TLS     *tls.Config
	// Grace is how long a request that has begun may take when the process ends.
	Grace time.Duration

	listens atomic.Bool
}

// grace is how long a scrape that has begun may take when the process ends.
const grace = 5 * time.Second

// NeedLeaderElection says that whoever waits for the Lease serves, too.
func (*Server) NeedLeaderElection() bool { return false }

// Listens says that connections are taken.
func (s *Server) Listens() bool { return s.listens.Load() }

// Start serves until the context ends.
func (s *Server) Start(ctx context.Context) error {
	listener, err := tls.Listen("tcp", s.Address, s.TLS)
	if err != nil {
		return fmt.Errorf("serving %s: %w", s.What, err)
	}
	s.listens.Store(true)
	ended := make(chan error, 1)
	go func() { ended <- s.HTTP.Serve(listener) }()
	select {
	case err = <-ended:
		return fmt.Errorf("serving %s: %w", s.What, err)
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	if err := s.HTTP.Shutdown(ctx); err != nil {
		return errors.Join(err, s.HTTP.Close())
	}
	return nil
}
