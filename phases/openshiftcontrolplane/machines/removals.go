package machines

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// askedLately is for how long a deletion that was asked for is not asked for again: a cache shows it later than that only if it is in
// trouble.
const askedLately = whileUnwatched

// removals are the deletions that the API server has taken, by the UID of the object, so that none is asked for twice while a cache does not
// show it yet. One that is lost with the process is asked for again.
type removals struct {
	mu  sync.Mutex
	all map[types.UID]time.Time
}

func (d *removals) note(uid types.UID, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[types.UID]time.Time{}
	}
	maps.DeleteFunc(d.all, func(_ types.UID, at time.Time) bool { return !isLately(at, now) })
	d.all[uid] = now
}

func (d *removals) lately(uid types.UID, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, is := d.all[uid]
	return is && isLately(at, now)
}

// isLately is false of a time to come: somebody has set the clock back.
func isLately(at, now time.Time) bool {
	age := now.Sub(at)
	return age >= 0 && age < askedLately
}
