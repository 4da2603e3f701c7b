package records

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// retryAfter is after how long a request of a ConfigMap that has failed is tried again.
const retryAfter = time.Second

// former is what a change of a record has replaced, nil for nothing.
type former struct {
	waiting *json.RawMessage
	held    *machine.Record
}

// save has a record stored, or removed if nothing is to be stored of it, together
// with all that wait, or returns after how long it may be. A record that could not
// be written does not wait any longer; one that was said to wait before does.
func (s *shard) save(ctx context.Context, key machine.Key, r saved) (later time.Duration, err error) {
	if err := s.fill(ctx); err != nil {
		return 0, err
	}
	before, done, later, err := s.put(key, &r)
	if done || later > 0 || err != nil {
		return later, err
	}
	written := false
	defer func() {
		if !written {
			s.takeBack(key, r.short, before)
		}
	}()
	if err := s.takeTurn(ctx); err != nil {
		return 0, err
	}
	defer s.endTurn()
	if done, later, err = s.done(key); done || later > 0 || err != nil {
		written = err == nil
		return later, err
	}
	if err = s.write(ctx); err == nil {
		err = s.refusal(key)
	}
	written = err == nil
	return 0, err
}

// put lets a change wait for a write. done says that nothing is to be written, and later and err that no write may be
// tried. What is stored of the record becomes what there is room for beside the note.
func (s *shard) put(key machine.Key, r *saved) (before former, done bool, later time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.short, err = s.options.beside(s.stored[key].Note, r.short); err != nil {
		return before, false, 0, err
	}
	before = s.former(key)
	if under, is := s.sending[key]; (!is || under.record == nil) && bytes.Equal(s.stored[key].Record, r.short) {
		delete(s.waiting, key)
		delete(s.refused, key)
		s.hold(key, *r)
		return before, !s.amiss || s.justFailed() != nil, 0, nil
	}
	if err = s.refused[key]; err != nil {
		delete(s.refused, key)
		if before.waiting != nil && bytes.Equal(*before.waiting, r.short) {
			return before, false, 0, err
		}
	}
	if err := s.justFailed(); err != nil {
		return before, false, 0, err // a record that is not known to be written soon is not saved
	}
	if !s.isWaiting() {
		s.since = s.options.Clock.Now()
	}
	s.waiting[key] = r.short
	s.hold(key, *r)
	return before, false, s.wait(), nil
}

// isWaiting says that there is something that the next write takes along.
func (s *shard) isWaiting() bool {
	for key := range s.waiting {
		if s.refused[key] == nil {
			return true
		}
	}
	return false
}

// former is what is kept of a key beside what is stored.
func (s *shard) former(key machine.Key) (before former) {
	if raw, is := s.waiting[key]; is {
		before.waiting = &raw
	}
	before.held = s.held[key]
	return before
}

// hold keeps a record as it was saved.
func (s *shard) hold(key machine.Key, r saved) {
	if s.held[key] = r.full; r.full == nil {
		delete(s.held, key)
	}
}

// justFailed is why a write failed that is not to be tried again yet.
func (s *shard) justFailed() error {
	if s.failed != nil && s.isRecent(s.wrote) {
		return s.failed
	}
	return nil
}

// wait is after how long a write is due; a clock that was set back holds nothing up.
func (s *shard) wait() time.Duration {
	waited := s.options.Clock.Now().Sub(s.since)
	if s.amiss || waited < 0 {
		return 0
	}
	return max(0, s.options.Late-waited)
}

// done says that somebody else has written a change meanwhile, err that somebody has tried to, and later that it came
// during a write and may wait for another.
func (s *shard) done(key machine.Key) (done bool, later time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, waits := s.waiting[key]; !waits && !s.amiss {
		return true, 0, nil
	}
	if err := s.justFailed(); err != nil {
		return false, 0, err
	}
	return false, s.wait(), nil
}

// refusal takes the error of a change that there is no room for.
func (s *shard) refusal(key machine.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.refused, key)
	return s.refused[key]
}

// takeBack lets wait and be held what was before a change that was not written.
func (s *shard) takeBack(key machine.Key, short json.RawMessage, before former) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, waits := s.waiting[key]; !waits || !bytes.Equal(now, short) {
		return
	}
	if before.waiting == nil {
		delete(s.waiting, key)
	} else {
		s.waiting[key] = *before.waiting
	}
	s.hold(key, saved{full: before.held})
}
