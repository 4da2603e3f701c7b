package records

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// writeEvery is how often a shard is written at most.
const writeEvery = time.Second

// save has a record written, or removed if it is nil, together with all that
// wait, or returns after how long it may be. A record that could not be written
// does not wait any longer; one that was said to wait before does.
func (s *shard) save(ctx context.Context, key machine.Key, raw json.RawMessage) (later time.Duration, err error) {
	if err := s.fill(ctx); err != nil {
		return 0, err
	}
	before, done, later, err := s.put(key, raw)
	if done || later > 0 || err != nil {
		return later, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if done, later = s.done(key); done || later > 0 {
		return later, nil
	}
	written := false
	defer func() {
		if !written {
			s.takeBack(key, raw, before)
		}
	}()
	if err = s.write(ctx); err == nil {
		err = s.refusal(key)
	}
	written = err == nil
	return 0, err
}

// put lets a change wait for a write. done says that nothing is to be written, later and err that no write may be
// tried, and before what waited of the key, nil for nothing.
func (s *shard) put(key machine.Key, raw json.RawMessage) (before *json.RawMessage, done bool, later time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waited, waits := s.waiting[key]; waits {
		before = &waited
	}
	if _, underWay := s.sending[key]; !underWay && bytes.Equal(s.stored[key], raw) {
		delete(s.waiting, key)
		delete(s.refused, key)
		return before, true, 0, nil
	}
	if err = s.refused[key]; err != nil {
		delete(s.refused, key)
		if before != nil && bytes.Equal(*before, raw) {
			return before, false, 0, err
		}
	}
	wait := s.wait()
	if wait > 0 && s.failed != nil {
		return before, false, 0, s.failed // a record that is not known to be written soon is not saved
	}
	s.waiting[key] = raw
	return before, false, wait, nil
}

// wait is after how long a write may be tried; a clock that was set back holds nothing up.
func (s *shard) wait() time.Duration {
	if since := s.now().Sub(s.wrote); since >= 0 && since < writeEvery {
		return writeEvery - since
	}
	return 0
}

// done says that somebody else has written a change meanwhile, and later that somebody has tried to.
func (s *shard) done(key machine.Key) (done bool, later time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, waits := s.waiting[key]; !waits {
		return true, 0
	}
	return false, s.wait()
}

// refusal takes the error of a change that there is no room for.
func (s *shard) refusal(key machine.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.refused, key)
	return s.refused[key]
}

// takeBack lets wait what waited before a change that was not written.
func (s *shard) takeBack(key machine.Key, raw json.RawMessage, before *json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now, waits := s.waiting[key]; {
	case !waits || !bytes.Equal(now, raw):
	case before != nil:
		s.waiting[key] = *before
	default:
		delete(s.waiting, key)
	}
}
