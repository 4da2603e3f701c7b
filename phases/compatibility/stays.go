package compatibility

import (
	"sync"
	"time"
)

// endsOutage is for how long somebody has to answer the webhooks to end an outage: a checker that comes and goes does not.
const endsOutage = time.Minute

// stays remembers since when somebody answers the webhooks without a break, zero for nobody. Lost, the time begins anew.
type stays struct {
	mu    sync.Mutex
	since time.Time
}

func (s *stays) begun(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() || s.since.After(now) { // the clock may have been set back
		s.since = now
	}
}

func (s *stays) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Time{}
}

// now says whether it has been for long enough, and after how long it will have been; zero if nothing is waited for.
func (s *stays) now(now time.Time) (long bool, in time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return false, 0
	}
	in = max(s.since.Add(endsOutage).Sub(now), 0)
	return in == 0, in
}
