// Package registry is a real OCI registry inside the test process: plain HTTP
// on a free loopback port, contents in memory. It can be made unreachable,
// brought back with everything it held, and told to fail. It refuses nothing
// and asks for no credentials; it is no registry for anything but tests and
// the demo.
package registry

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Fault decides the fate of a request before the registry sees it: an HTTP
// status to answer instead, or 0 to let it through. It may block, to make the
// registry slow, and is called from several goroutines at once.
type Fault func(*http.Request) int

// Registry is a running registry; its methods may be called from any goroutine.
type Registry struct {
	address  string
	contents http.Handler

	mu     sync.Mutex
	fault  Fault
	server *http.Server
	served chan struct{}
}

// Start serves an empty registry on a free port of 127.0.0.1.
func Start() (*Registry, error) {
	r := &Registry{
		address:  "127.0.0.1:0",
		contents: registry.New(registry.Logger(log.New(io.Discard, "", 0))),
	}
	if err := r.Restart(); err != nil {
		return nil, err
	}
	return r, nil
}

// Host is the host:port to put before a repository's name. It never changes.
func (r *Registry) Host() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address
}

// Stop makes the registry unreachable: connections are cut and new ones are
// refused. What was pushed is kept for Restart. A stopped registry may be stopped again.
func (r *Registry) Stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == nil {
		return nil
	}
	err := r.server.Close()
	<-r.served
	r.server = nil
	if err != nil {
		return fmt.Errorf("stopping the registry on %s: %w", r.address, err)
	}
	return nil
}

// Restart serves again, on the same port and with the same contents. It does
// nothing to a registry that is running.
func (r *Registry) Restart() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", r.address)
	if err != nil {
		return fmt.Errorf("starting the registry: %w", err)
	}
	r.address = listener.Addr().String()
	r.server = &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: time.Minute}
	r.served = make(chan struct{})
	go func(server *http.Server, served chan<- struct{}) {
		defer close(served)
		_ = server.Serve(listener) // always ends with the error that Stop caused
	}(r.server, r.served)
	return nil
}

// SetFault makes requests fail from now on; nil ends the trouble.
func (r *Registry) SetFault(fault Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

func (r *Registry) serve(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	fault := r.fault
	r.mu.Unlock()
	if fault != nil {
		if status := fault(request); status != 0 {
			http.Error(w, http.StatusText(status), status)
			return
		}
	}
	r.contents.ServeHTTP(w, request)
}
