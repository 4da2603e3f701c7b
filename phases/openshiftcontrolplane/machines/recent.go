package machines

import (
	"maps"
	"sync"
	"time"
)

// recently is for how long a request that the API server has taken is not made again: a cache shows what came of it later than that only
// if it is in trouble.
const recently = whileUnwatched

// recent are requests that the API server has taken, by what they were about, so that none is made twice while a cache does not show it
// yet. One that is lost with the process is made again.
type recent[K comparable] struct {
	mu  sync.Mutex
	all map[K]time.Time
}

func (r *recent[K]) note(about K, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[K]time.Time{}
	}
	maps.DeleteFunc(r.all, func(_ K, at time.Time) bool { return !isRecent(at, now) })
	r.all[about] = now
}

func (r *recent[K]) has(about K, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, is := r.all[about]
	return is && isRecent(at, now)
}

// forget lets go of a request of which a cache shows what came of it.
func (r *recent[K]) forget(about K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, about)
}

// isRecent is false of a time to come: somebody has set the clock back.
func isRecent(at, now time.Time) bool {
	age := now.Sub(at)
	return age >= 0 && age < recently
}
