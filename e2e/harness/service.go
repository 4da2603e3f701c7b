package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// probeEvery is how often a replica is asked whether it is ready.
const probeEvery = 50 * time.Millisecond

// Service stands for Service capstan-webhooks: a loopback address from which connections go to replicas that are ready, and
// an EndpointSlice that says which are, as proxy, kubelet and endpoint controller of a cluster make it.
type Service struct {
	env      *Environment
	listener net.Listener
	end      context.CancelFunc
	running  sync.WaitGroup

	mu       sync.Mutex
	replicas []*replica
	severed  bool
	turn     int
	open     map[net.Conn]bool
	told     bool
}

// replica is webhooks, and whether they were ready when they were asked last.
type replica struct {
	*Webhooks
	ready bool
}

// NewService opens the address; there is no replica yet. An operator finds it by Arguments.
func (e *Environment) NewService(ctx context.Context) (*Service, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the address of Service %s: %w", WebhooksAccount, err)
	}
	s := &Service{env: e, listener: listener, open: map[net.Conn]bool{}}
	if err := s.write(ctx); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	var running context.Context
	running, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.running.Go(func() { s.accept(running) })
	s.running.Go(func() { s.probe(running) })
	return s, nil
}

// Arguments are the flags by which an operator has API servers find the checker here.
func (s *Service) Arguments() ([]string, error) {
	ca := filepath.Join(s.env.Cluster.Dir(), "webhooks-ca.crt")
	if err := os.WriteFile(ca, s.CA(), 0o600); err != nil {
		return nil, fmt.Errorf("writing the authority of the webhooks: %w", err)
	}
	return []string{"--webhooks-url=" + s.URL(""), "--webhooks-ca-file=" + ca}, nil
}

// URL is where a path is served.
func (s *Service) URL(path string) string { return "https://" + s.listener.Addr().String() + path }

// CA is the authority of the replicas' certificates, in PEM.
func (s *Service) CA() []byte { return s.env.Cluster.Config().CAData }

// Add has a replica answer from now on, whenever it is ready.
func (s *Service) Add(w *Webhooks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas, s.told = append(s.replicas, &replica{Webhooks: w}), false
}

// Remove forgets a replica, whose Pod is gone.
func (s *Service) Remove(w *Webhooks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas, s.told = slices.DeleteFunc(s.replicas, func(r *replica) bool { return r.Webhooks == w }), false
}

// Sever lets no connection reach a replica, whose readiness is told as before; or lets them again.
func (s *Service) Sever(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.severed = is
	for connection := range s.open {
		if is {
			connection.Close() // its copying ends, and tells nobody
		}
	}
}

// Leads is nil when a connection reaches a replica.
func (s *Service) Leads(ctx context.Context) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA())
	connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", s.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("connecting to Service %s: %w", WebhooksAccount, err)
	}
	return connection.Close()
}

// Close ends it and takes the EndpointSlice away.
func (s *Service) Close(ctx context.Context) error {
	s.end()
	closed := s.listener.Close()
	s.Sever(true)
	s.running.Wait()
	gone := s.env.Client.Delete(ctx, s.slice())
	return errors.Join(closed, client.IgnoreNotFound(gone))
}

func (s *Service) accept(ctx context.Context) {
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.running.Go(func() { s.carry(ctx, connection) })
	}
}

// carry connects to a replica and copies until either side ends.
func (s *Service) carry(ctx context.Context, from net.Conn) {
	defer from.Close()
	address := s.pick()
	if address == "" {
		return
	}
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	if !s.holds(from, true) {
		return
	}
	defer s.holds(from, false)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // one side has ended, and so does the other
			way[0].Close()
			way[1].Close()
		})
	}
	both.Wait()
}

// pick is the address of the next replica that is ready, empty for none.
func (s *Service) pick() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range s.replicas {
		s.turn++
		if r := s.replicas[s.turn%len(s.replicas)]; r.ready && !s.severed {
			return r.address
		}
	}
	return ""
}

// holds keeps a connection in view or not, and says whether it may go on.
func (s *Service) holds(connection net.Conn, is bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is {
		s.open[connection] = true
	} else {
		delete(s.open, connection)
	}
	return !s.severed
}

// probe asks all replicas again and again whether they are ready, and tells what has changed.
func (s *Service) probe(ctx context.Context) {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		s.mu.Lock()
		all := slices.Clone(s.replicas)
		s.mu.Unlock()
		for _, r := range all {
			ready := r.Ready(ctx) == nil
			s.mu.Lock()
			s.told = s.told && r.ready == ready
			r.ready = ready
			s.mu.Unlock()
		}
		s.mu.Lock()
		told := s.told
		s.told = true
		s.mu.Unlock()
		if !told && s.write(ctx) != nil {
			s.mu.Lock()
			s.told = false
			s.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Service) slice() *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: OperatorNamespace, Name: WebhooksAccount + "-harness",
			Labels: map[string]string{discoveryv1.LabelServiceName: WebhooksAccount, discoveryv1.LabelManagedBy: fieldManager},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("webhooks"), Port: ptr.To[int32](9443)}},
	}
}

// write has the EndpointSlice say which replicas are ready. Their addresses are made up, since the API takes no loopback one.
func (s *Service) write(ctx context.Context) error {
	slice := s.slice()
	s.mu.Lock()
	for i, r := range s.replicas {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{fmt.Sprintf("10.244.0.%d", i+10)}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(r.ready)},
		})
	}
	s.mu.Unlock()
	err := s.env.Client.Update(ctx, slice)
	if apierrors.IsNotFound(err) {
		err = s.env.Client.Create(ctx, slice)
	}
	if err != nil {
		return fmt.Errorf("writing EndpointSlice %s: %w", slice.Name, err)
	}
	return nil
}
