package keys

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	// quiet is for how long no cluster has needed keys before any are made ahead: clusters that are being made have the processors for
	// themselves, and so has a process that has just started. A stock that is full, or has met an error, is looked at again after as long.
	quiet = time.Minute
	// fresh is for how long a pair may be in a stock: the ten years of its certificate begin when it is made.
	fresh = 30 * 24 * time.Hour
	// restFactor is how long nothing is made after a pair, as a multiple of the time that it took: 3 leaves a quarter of one processor.
	restFactor = 3
)

// stocked are the purposes that RSA keys are made for, which take a hundred times as long as the others, see [Purposes].
var stocked = []secret.Purpose{secret.ClusterCA, secret.EtcdCA, secret.FrontProxyCA, secret.ServiceAccount}

// Stock makes authorities before a cluster needs them, which is possible since no certificate of one names its cluster. It is in memory
// alone, and a pair is given out once: it is not taken back, even if it could not be stored, since it may have been. If the stock is lost,
// keys are made when they are needed. It may be used by many goroutines.
type Stock struct {
	o StockOptions

	mu    sync.Mutex
	pairs map[secret.Purpose][]pair
	// asked is when a cluster has needed keys last; at first when the stock was made.
	asked time.Time
	// told says that it was logged that the stock is full; false once a pair was taken.
	told bool
}

// pair is a key with its certificate, and when it was made.
type pair struct {
	*certs.KeyPair
	made time.Time
}

// StockOptions are what a stock is made with.
type StockOptions struct {
	// Clusters is of how many all is in a stock that is full, zero for none.
	Clusters int
	// Now tells the time, which may be set back; Clock must not go back.
	Now   func() time.Time
	Clock clock.Clock
	Log   logr.Logger
}

// NewStock makes a stock with nothing in it, which is filled once it is started.
func NewStock(o StockOptions) *Stock {
	return &Stock{o: o, pairs: map[secret.Purpose][]pair{}, asked: o.Clock.Now()}
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
	for _, one := range all {
		if one.KeyPair != nil || !slices.Contains(stocked, one.Purpose) {
			continue
		}
		s.asked, s.told = s.o.Clock.Now(), false
		if taken := s.take(one.Purpose); taken != nil {
			one.KeyPair, one.Generated = taken, true
		}
	}
}

// take takes the newest pair of a purpose, nil for none. One that was made under another clock, or long ago, is thrown away: its
// certificate may not be valid yet, or not for as long as another.
func (s *Stock) take(purpose secret.Purpose) *certs.KeyPair {
	for left := s.pairs[purpose]; len(left) > 0; left = s.pairs[purpose] {
		last := len(left) - 1
		taken := left[last]
		left[last] = pair{} // so that only the cluster has it
		s.pairs[purpose] = left[:last]
		if age := s.o.Now().Sub(taken.made); age >= 0 && age <= fresh {
			return taken.KeyPair
		}
	}
	return nil
}

// Ahead is of how many clusters all is in the stock.
func (s *Stock) Ahead() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := s.o.Clusters
	for _, purpose := range stocked {
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
		case <-s.o.Clock.After(s.next()):
		}
	}
}

// next makes a pair if it is time for one, and returns after how long to look again.
func (s *Stock) next() time.Duration {
	purpose, wait := s.lacks()
	if purpose == "" {
		return wait
	}
	began, at := s.o.Clock.Now(), s.o.Now()
	made := &secret.Certificate{Purpose: purpose}
	if err := made.Generate(); err != nil {
		s.o.Log.Error(err, "Making keys ahead", "purpose", purpose)
		return quiet
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pairs[purpose] = append(s.pairs[purpose], pair{KeyPair: made.KeyPair, made: at})
	return restFactor * s.o.Clock.Since(began)
}

// lacks is of which purpose a pair is to be made, empty for none now, and after how long that is to be asked again.
func (s *Stock) lacks() (purpose secret.Purpose, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := quiet - s.o.Clock.Since(s.asked); left > 0 {
		return "", left
	}
	for _, purpose := range stocked {
		if len(s.pairs[purpose]) < s.o.Clusters {
			return purpose, 0
		}
	}
	if !s.told && s.o.Clusters > 0 {
		s.told = true
		s.o.Log.Info("Keys are made ahead", "clusters", s.o.Clusters) // the bench counts these lines
	}
	return "", quiet
}
