package keys

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	// quiet is for how long no cluster has asked for keys before any are made ahead: clusters that are being made have the processors for
	// themselves, and so has a process that has just started.
	quiet = time.Minute
	// idle is how many times as long as a pair took to make nothing is made after it: at most a quarter of one processor goes into a stock.
	idle = 3
)

// kept are the purposes of which a stock has pairs: those whose keys are of RSA, which take a hundred times as long as others.
var kept = []secret.Purpose{secret.ClusterCA, secret.EtcdCA, secret.FrontProxyCA, secret.ServiceAccount}

// Stock makes authorities ahead, while there is nothing else to do. Nothing in the certificate of one says which cluster it is for. It is in
// memory, and whoever takes a pair out of it has it alone. It may be used by many goroutines.
type Stock struct {
	clusters int
	clock    clock.Clock
	log      logr.Logger

	mu    sync.Mutex
	pairs map[secret.Purpose][]*certs.KeyPair
	// asked is when a cluster has asked for keys last, or when the stock was made.
	asked time.Time
	// full says that it was told that the stock is full.
	full bool
}

// NewStock makes a stock that is to have the authorities of so many clusters; nothing is in it before it is started. The clock never goes
// back.
func NewStock(clusters int, timer clock.Clock, log logr.Logger) *Stock {
	return &Stock{clusters: clusters, clock: timer, log: log, pairs: map[secret.Purpose][]*certs.KeyPair{}, asked: timer.Now()}
}

// Generate is [Generate] with what is in the stock, and for what is not there as without one. A stock that is nil has nothing.
func (s *Stock) Generate(all secret.Certificates) error {
	if s != nil {
		s.give(all)
	}
	return Generate(all)
}

// give gives pairs to authorities that have none.
func (s *Stock) give(all secret.Certificates) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.full = s.clock.Now(), false
	for _, one := range all {
		left := s.pairs[one.Purpose]
		if one.KeyPair != nil || len(left) == 0 {
			continue
		}
		last := len(left) - 1
		one.KeyPair, one.Generated = left[last], true
		left[last] = nil // so that only the cluster has it
		s.pairs[one.Purpose] = left[:last]
	}
}

// Ahead is of how many clusters all is in the stock.
func (s *Stock) Ahead() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := s.clusters
	for _, purpose := range kept {
		least = min(least, len(s.pairs[purpose]))
	}
	return least
}

// Start fills the stock, again and again, until the context ends.
func (s *Stock) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.clock.After(s.next()):
		}
	}
}

// next makes a pair if it is time for one, and returns after how long to look again.
func (s *Stock) next() time.Duration {
	purpose, wait := s.lacks()
	if purpose == "" {
		return wait
	}
	began := s.clock.Now()
	made := &secret.Certificate{Purpose: purpose}
	if err := made.Generate(); err != nil {
		s.log.Error(err, "Making keys ahead", "purpose", purpose)
		return quiet
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pairs[purpose] = append(s.pairs[purpose], made.KeyPair)
	return idle * s.clock.Since(began)
}

// lacks is of which purpose a pair is to be made, empty for none now, and after how long that is to be asked again.
func (s *Stock) lacks() (purpose secret.Purpose, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := quiet - s.clock.Since(s.asked); left > 0 {
		return "", left
	}
	for _, purpose := range kept {
		if len(s.pairs[purpose]) < s.clusters {
			return purpose, 0
		}
	}
	if !s.full && s.clusters > 0 {
		s.full = true
		s.log.Info("Keys are made ahead", "clusters", s.clusters)
	}
	return "", quiet
}
