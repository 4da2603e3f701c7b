package records

import (
	"maps"
	"sync"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// calmly bounds how often the status of an instance is written that tells of no move and of no other trouble: it is longer than states
	// usually last that are over in a moment, and nobody reads faster.
	calmly = 2 * time.Second
	// calmest is what calmly becomes at most where the API server is slow.
	calmest = 20 * time.Second
	// calmFor is how many times as long as the last write of any instance took the next words wait, so that they take a hundredth of the
	// time: an API server that has too much to do is not kept busy with them. Where writes take 200 ms, that is calmest.
	calmFor = 100
)

// calm keeps statuses from being written for what lasts a moment. If what it remembers is lost, a status is written once more, and a
// machine passes once more through a state that was not stored.
type calm struct {
	mu sync.Mutex
	// since is when a status was last written; for an instance that has none, when that was first seen.
	since map[machine.Key]time.Time
	// took is how long the last write of any instance took. It stays until the next write.
	took time.Duration
	// passed are records that were not stored: of states that were only passed through, or put off.
	passed map[machine.Key]passed
}

// passed is a record, and the stored one that it goes on from.
type passed struct{ from, record machine.Record }

func newCalm() *calm {
	return &calm{since: map[machine.Key]time.Time{}, passed: map[machine.Key]passed{}}
}

// wait is after how long a status may be written that has another record than the stored one, or says anything else; zero for now.
func (c *calm) wait(key machine.Key, stored, record machine.Record, now time.Time) time.Duration {
	if !isEntry(stored, record) && !isFirst(stored, record) || (stored.Failure == nil) != (record.Failure == nil) {
		return 0
	}
	if stored.Failure != nil && stored.Failure.Terminal != record.Failure.Terminal {
		return 0
	}
	for event, since := range stored.Lasting { // what has stopped, be it for a moment, must not be stored as what lasts
		if at, lasts := record.Lasting[event]; !lasts || !at.Equal(since) {
			return 0
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.since[key]
	if !known && isFirst(stored, record) {
		last = now
		c.since[key] = now
	}
	pause := min(max(calmly, calmFor*c.took), calmest)
	if age := now.Sub(last); age >= 0 && age < pause {
		return pause - age
	}
	return 0
}

// note notes a write that was begun then.
func (c *calm) note(key machine.Key, began, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since[key], c.took = now, now.Sub(began)
}

// pass keeps a record that is not stored for the next pass.
func (c *calm) pass(key machine.Key, stored, record machine.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed[key] = passed{from: stored, record: record}
}

// take is the record that goes on from a stored one, once.
func (c *calm) take(key machine.Key, stored machine.Record) (record machine.Record, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, is := c.passed[key]
	delete(c.passed, key)
	return kept.record, is && isEntry(kept.from, stored) && lastsAs(kept.from, stored)
}

// isEntry says that two records are of one stay in a state.
func isEntry(one, other machine.Record) bool {
	return one.UID == other.UID && one.State == other.State && one.Since.Equal(other.Since)
}

// lastsAs says that deadlines count from the same times on two records.
func lastsAs(one, other machine.Record) bool {
	return one.Progress.Done == other.Progress.Done && one.Progress.Since.Equal(other.Progress.Since) &&
		maps.EqualFunc(one.Lasting, other.Lasting, time.Time.Equal)
}

// isFirst says that nothing is stored, as of a new object or one whose status was lost, and that the machine has made no move. Most often
// one follows in a moment, such as once an owner is set, and makes the write needless.
func isFirst(stored, record machine.Record) bool { return stored.State == "" && record.CameFrom == "" }

// forget lets go of what is remembered of an instance that is gone.
func (c *calm) forget(key machine.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.since, key)
	delete(c.passed, key)
}
